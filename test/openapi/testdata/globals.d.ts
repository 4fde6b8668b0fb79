// What the program uses of node besides what browsers have.
declare const process: { argv: string[] };
