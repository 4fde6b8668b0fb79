// A client that shows MCP Apps, with the host's part of the official SDK. It asks the test for what
// an MCP session would have, and shows the view in a sandbox of another origin, as a web page has to.
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const ask = async (path, body) => (await fetch(path, { method: 'POST', body: JSON.stringify(body) })).json();

// show shows the answer to a call by its tool's view.
window.show = async (name, args, theme) => {
  const { view, tool, result, sandbox } = await ask('/show', { name, arguments: args });
  const frame = document.createElement('iframe');
  frame.title = name;
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin');
  document.body.replaceChildren(frame);
  const bridge = new AppBridge(null, { name: 'test-host', version: '1' }, { serverTools: {} }, { hostContext: { theme, toolInfo: { tool }, displayMode: 'inline' } });
  bridge.oncalltool = ({ name, arguments: args }) => ask('/call', { name, arguments: args });
  bridge.addEventListener('sizechange', ({ height }) => height && (frame.style.height = `${height + 2}px`));
  bridge.addEventListener('sandboxready', () => void bridge.sendSandboxResourceReady({ html: view.text, csp: view._meta.ui.csp }));
  bridge.addEventListener('initialized', async () => {
    await bridge.sendToolInput({ arguments: args });
    await bridge.sendToolResult(result);
    window.shown = true;
  });
  window.shown = false;
  window.end = () => bridge.teardownResource({});
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = sandbox;
};

// The test looks into the view, and presses what is there, through the sandbox, which has its origin.
let looks = 0;
window.look = (press) =>
  new Promise((done) => {
    const test = `look ${++looks}`;
    window.addEventListener('message', function heard({ data }) {
      if (data?.test !== test) return;
      window.removeEventListener('message', heard);
      done(data.text);
    });
    document.querySelector('iframe').contentWindow.postMessage({ test, press }, '*');
  });
