// How long a document may get.

// most is how many characters it may have.
export const most = 1_000_000;

// leftOf is how many more it may get, null while that is no matter.
export const leftOf = (text: string): number | null => (text.length > 0.9 * most ? most - text.length : null);
