// sse.ts reads a stream of Server-Sent Events. EventSource could, but it hides
// keepalives and answers such as 401, and gives up for good on some of them.

// Frame is what one blank line ends, with the fields that it had: an id alone moves
// the cursor, and an event without an id leaves it.
export interface Frame {
  id?: string;
  event?: string;
  data?: string;
  retry?: number;
}

// Parser takes text as it comes, cut anywhere.
export class Parser {
  private rest = '';
  private frame: Frame = {};

  push(text: string): Frame[] {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?=[^\n])/);
    this.rest = lines.pop()!; // a carriage return at its end may be half a line break
    const frames: Frame[] = [];
    for (const line of lines) this.line(line, frames);
    return frames;
  }

  private line(line: string, frames: Frame[]) {
    if (line === '') {
      if (Object.keys(this.frame).length > 0) frames.push(this.frame);
      this.frame = {};
      return;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    this.field(name, value);
  }

  // field ignores comments, which have no name, and names that it doesn't know.
  private field(name: string, value: string) {
    const { frame } = this;
    if (name === 'data') frame.data = frame.data === undefined ? value : `${frame.data}\n${value}`;
    else if (name === 'event') frame.event = value;
    else if (name === 'id') frame.id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) frame.retry = Number(value);
  }
}
