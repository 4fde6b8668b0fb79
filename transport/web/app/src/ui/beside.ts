import { createContext } from 'preact';

// Beside is the path of the list that stands beside the screen where there is room,
// "" where the screen stands alone.
export const Beside = createContext('');
