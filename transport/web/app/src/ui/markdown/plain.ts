// plain.ts tells a text without any markup, which is drawn at once: the parser needn't
// have come for it.

const address = /https?:\/\/[^\s<>"]+/g;

// marks are what could make a text more than its words, somewhere or at the begin of a line.
const marks = /[*_`~[\]<>#|\\&]|^(?: {4}|\t| *(?:[-+]|\d{1,9}[.)])(?: |$)| *[-=]{2,} *$)|mailto:|ftp:|\/\/|^---/m;

export const isPlain = (text: string): boolean => !marks.test(text.replace(address, 'x'));
