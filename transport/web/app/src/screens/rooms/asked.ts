import { signal } from '@preact/signals';

// asked is the room of the list whose menu is open, '' for none.
export const asked = signal('');
