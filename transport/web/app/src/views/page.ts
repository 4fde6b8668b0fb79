// page.ts puts things on a view's page. What people wrote is always text.

type Child = Node | string;

// el is an element with attributes and what is in it.
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string> = {}, ...inside: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

// clear puts these in the place of all that is in a node.
export const clear = (node: Node & ParentNode, ...inside: Child[]) => node.replaceChildren(...inside);

// button is pressed once at a time. What its work throws stands behind it.
export function button(label: string, work: () => Promise<unknown>): HTMLElement {
  const pressed = el('button', { type: 'button' }, label);
  const line = el('span', { class: 'line' }, pressed);
  pressed.addEventListener('click', () => {
    pressed.disabled = true;
    line.querySelector('.problem')?.remove();
    work()
      .catch((problem: unknown) => line.append(el('span', { class: 'problem', role: 'alert' }, said(problem))))
      .finally(() => (pressed.disabled = false));
  });
  return line;
}

// said is what to say of what was thrown.
export const said = (problem: unknown) => (problem instanceof Error ? problem.message : 'Something went wrong');

// check is a line that says what was checked, and whether it holds.
export const check = (ok: boolean, held: string, broke: string) => el('li', { class: ok ? 'ok' : 'broken' }, `${ok ? '✓' : '✗'} ${ok ? held : broke}`);
