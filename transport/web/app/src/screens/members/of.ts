// Of is what somebody is a member of, and where the server has it.
export interface Of {
  what: 'room' | 'workspace';
  name: string;
  url: string;
}
