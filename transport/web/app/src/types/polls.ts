// Poll is the body of a message that is a poll. result is what came of one that was imported.
export interface Poll {
  question: string;
  options: string[];
  multiple?: true;
  anonymous?: true;
  ends_at?: string;
  result?: { counts?: number[]; voters: number };
}

// PollState is what has become of a poll. Numbers of options begin at 1.
export interface PollState {
  voters: number;
  counts?: number[]; // absent while an anonymous poll is open
  by?: string[][]; // who chose each option, the first of them; absent where it is anonymous
  mine?: number[];
  ended?: { at: string; by: string; room_seq: number };
}
