// Package web serves the app, which is where people read and write: the built
// files of app/ in dist/, embedded into the program.
//
// # How it is served
//
// The data: the files of dist, with their types, hashes and compressed forms, made
// once when the server starts and never changed. A request for a file gets it; one
// for a path of the app ("/ui/rooms/r:general") gets index.html, and the app's own
// router does the rest. Files below assets/ have a hash in their name and are kept
// by browsers for good; all others are asked about each time, with an ETag. The
// Content-Security-Policy allows nothing from elsewhere and no inline code or style.
// What fails: a path that is neither is a 404 in the envelope. There is no state
// that could be lost.
//
// # How the app is built up
//
// app/ is TypeScript with Preact and signals, and Vite to build it. src/main.tsx puts
// it on the page: session.ts knows who is signed in, api.ts asks the server (every
// failure is an ApiError with a code), router.tsx follows the address, device.ts
// knows theme, network and keyboard, types/ has the shapes of schemas/, update.ts
// and sw.ts keep the app's files for a start without a network. Tabs share one cookie,
// and anybody may sign in in another tab: so each request names whom it is for, in
// X-UBL-As ("t:acme|u:ana"). Where that is no longer who the cookie is of, the server
// answers 401, and the app asks who it is, leaves the first one's store as it is and
// starts the other's.
//
// The store (src/store, src/chain.ts) has no user interface in it. It keeps rooms,
// messages, what wasn't sent yet and the newest answers of a few screens in IndexedDB,
// follows one stream a browser, and shows all that as signals. Screens read signals; whatever reads one in a component
// is drawn again when it changes.
//
// Components (src/ui) are small and know nothing of rooms or ledgers. Screen is the
// frame of a screen and moves the focus to its name; Layout puts a section's list, a screen
// and its detail side by side. The style (src/style) uses tokens for every colour and
// size, and logical properties only, so that it runs from right to left as well.
// There is no style attribute in the markup: the policy forbids it. Preact's style={{…}}
// sets properties from script, which it allows.
//
// A screen (src/screens) is a file with a default export, and one entry in
// src/routes.tsx with its pattern and a lazy import. It is mounted anew for each
// path and gets the parts of the path as params. What only it needs of style stands
// in a sheet beside it, which it imports. src/page.css is for the few pages that the
// server writes without the app; package envelope has their frame.
//
// # What it shares with others
//
//	src/screens/agents/clients.json  how MCP clients are told of the server: for the app, for [Clients] and so for
//	                                 "ubl token --client", and for the README, whose snippets a test compares
//	src/screens/agents/grants.json   what people let agents use, written by TestGrants from package mcp
//	src/views                        pages that MCP clients show ([View]), with the app's own checks of
//	                                 receipts in them. Each is built into one file of dist/views, which no path serves
//
// # Words
//
// Texts are in catalogues of ICU MessageFormat, src/words/en.json and one for each other
// language. words.mjs parses them when the app is built, so that the app has no parser; t and
// rich of src/words put values and elements in their places. The first load has what it shows
// of English (words.mjs says which), and the rest comes with the first screen that is fetched.
// Other languages are fetched when they are wanted; where one can't be had, what was shown
// stays. test/catalogue.test.ts finds keys that a language lacks, texts in code, and texts that
// the first load lacks; still.json lists the files that have texts of their own yet.
//
// # Keys
//
// src/commands.ts is the one table of what can be done from anywhere. The palette and "?"
// show it, and one handler hears its keys, before what has the focus does.
//
// # What is unread
//
// The server counts what is unread in each room, for all devices of a person. Rooms keeps that
// count and goes on counting with what the stream brings; Reading tells the server, soon, how
// far one has read here. Without a network a mark stays, and is told when the list of rooms
// shows that the server knows less. room.read brings the marks of other devices.
//
// To work on it:
//
//	cd transport/web/app && npm ci
//	npm run watch                                   # builds into app/build at each change
//	go run ./cmd/ubl serve --web-dir transport/web/app/build
//
// With --web-dir files are read at each request and not kept; that build registers
// no service worker. app/build.sh makes dist, which is committed: a test builds it
// again and compares. The build has no date, path or chance in it.
package web
