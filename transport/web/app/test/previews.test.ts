// Taking the preview of a link away: the text stays, and the link says that it wants none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutPreview } from '../src/screens/room/previews';

const url = 'https://a.example/x?q=1';

for (const [text, want] of [
  [url, `<${url}>`],
  [`See ${url}.`, `See <${url}>.`],
  [`(${url})`, `(<${url}>)`],
  [`[words](${url}) and ${url}`, `[words](<${url}>) and <${url}>`],
  [`[words](${url} "title")`, `[words](<${url}> "title")`],
  [`**${url}**`, `**<${url}>**`],
  [`<${url}>`, `<${url}>`],
  [`\`${url}\` ${url}`, `\`${url}\` <${url}>`],
  ['```\n' + url + '\n```\n' + url, '```\n' + url + '\n```\n<' + url + '>'],
  [`${url}/more ${url}&r=2 ${url}.com`, `${url}/more ${url}&r=2 ${url}.com`],
  [`x${url}`, `x${url}`],
] as const) {
  test(`without the preview, ${JSON.stringify(text)} is ${JSON.stringify(want)}`, () => assert.equal(withoutPreview(text, url), want));
}
