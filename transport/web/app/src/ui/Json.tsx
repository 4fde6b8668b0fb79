import type { ComponentChildren } from 'preact';

// token is one piece of JSON text: a name, a string, or a word such as 12 or null.
const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

// Json is any value as indented JSON, with its parts told apart by colour.
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <pre class="json" tabIndex={0} role="region" aria-label={label}>
      <code>{coloured(JSON.stringify(value, null, 2))}</code>
    </pre>
  );
}

function coloured(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const found of text.matchAll(token)) {
    const [whole, string, colon] = found;
    const name = string !== undefined && colon !== undefined;
    const body = name ? string : whole;
    parts.push(text.slice(end, found.index), <span class={name ? 'name' : string !== undefined ? 'string' : 'word'}>{body}</span>);
    end = found.index + body.length;
  }
  return [...parts, text.slice(end)];
}
