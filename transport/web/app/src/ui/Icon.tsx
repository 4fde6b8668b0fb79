// Icons are paths on a grid of 24, drawn with the colour of the text around them.

const paths = {
  back: 'M15 5l-7 7 7 7',
  forward: 'M9 5l7 7-7 7',
  up: 'M5 15l7-7 7 7',
  down: 'M5 9l7 7 7-7',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  plus: 'M12 5v14M5 12h14',
  more: 'M5 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM19 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2z',
  send: 'M12 19V5M6 11l6-6 6 6',
  reply: 'M9 8l-5 4.5L9 17M4 12.5h9a7 7 0 0 1 7 7',
  smile: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM8.5 14c.8 1.2 2 2 3.5 2s2.7-.8 3.5-2M9 10h.01M15 10h.01',
  pin: 'M9 4h6l-1 6 3 3H7l3-3zM12 13v7',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  edit: 'M4 20l1-4L16.5 4.5a2.1 2.1 0 0 1 3 3L8 19z',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  room: 'M12 4c-4.7 0-8.5 3.1-8.5 7 0 2.3 1.3 4.3 3.3 5.6L6 20.5l4-2.2c.7.1 1.3.2 2 .2 4.7 0 8.5-3.1 8.5-7S16.7 4 12 4z',
  document: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  ledger: 'M9 5a3 3 0 0 0-3 3v1a3 3 0 0 0 6 0M15 19a3 3 0 0 0 3-3v-1a3 3 0 0 0-6 0M12 9v6',
  people: 'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM3 20c0-3.3 2.7-5 6-5s6 1.7 6 5M16 5.5a3.3 3.3 0 0 1 0 6.2M17.5 15.3c2.1.6 3.5 2.2 3.5 4.7',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20.5c0-3.8 3.3-5.5 7.5-5.5s7.5 1.7 7.5 5.5',
  tool: 'M14.5 6.5a4 4 0 0 1 5-1l-2.7 2.7 1 2 2 .8L20.5 9.5a4 4 0 0 1-5.5 4.5L8.5 20.5a2.1 2.1 0 0 1-3-3L12 11a4 4 0 0 1 2.5-4.5z',
  server: 'M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.01M7.5 16h.01',
  budget: 'M5 19a9 9 0 1 1 14 0M12 14l4-5M12 14h.01',
  wallet: 'M18 8V5H6a2 2 0 0 0 0 4h14v11H6a2 2 0 0 1-2-2V7M16 14.5h.01',
  save: 'M12 4v10M7.5 10l4.5 4.5 4.5-4.5M5 19h14',
  model: 'M11 4l1.8 5.2L18 11l-5.2 1.8L11 18l-1.8-5.2L4 11l5.2-1.8zM18.5 16v4M16.5 18h4',
  settings: 'M4 7h9M17 7h3M15 4.5v5M4 17h3M11 17h9M9 14.5v5',
  key: 'M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12l8.5-8.5M16 7l3 3',
  device: 'M7 3h10v18H7zM11 18h2',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 5.7 5.7L12 17',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 1.5',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  info: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 11v5M12 8h.01',
  offline: 'M4 4l16 16M8.5 15.5a5 5 0 0 1 6.5-.5M5 12a10 10 0 0 1 4-2.4M13 9.1a10 10 0 0 1 6 2.9M12 19h.01',
  refresh: 'M19 12a7 7 0 1 1-2-4.9M19 4v4h-4',
  signout: 'M14 5H5v14h9M10 12h10M17 8.5l3.5 3.5-3.5 3.5',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  mute: 'M10 18.5a2 2 0 0 0 4 0M8.5 6.5A4.5 4.5 0 0 1 16.5 10c0 2.2.4 3.7 1 4.7M15.5 15.5h-10c1-1 2-2.5 2-5.5V9M4 4l16 16',
  microphone: 'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5V21M8.5 21h7',
  phone: 'M5 3h4l2 6-3 2c1 3 3 4 5 5l2-3 6 2v4C12 21 3 12 5 3z',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
} as const;

export type IconName = keyof typeof paths;

// Icon is decoration: what carries it has a name of its own. Those that point
// along the text turn round in languages that run from right to left.
export function Icon({ name, size = 24 }: { name: IconName; size?: number }) {
  const turns = name === 'back' || name === 'forward' || name === 'reply' || name === 'signout';
  return (
    <svg class={turns ? 'icon turns' : 'icon'} width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
