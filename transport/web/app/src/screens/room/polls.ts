// What one asks the server about polls.

import { at, get, newKey, post } from '../../api';
import type { EntryAnswer, Message, PollState } from '../../types';

export interface Asked {
  question: string;
  options: string[];
  multiple: boolean;
  anonymous: boolean;
  ends_at?: string;
  thread?: string;
}

export const create = (roomId: string, poll: Asked) => post(at`/api/rooms/${roomId}/polls`, poll, { key: newKey() });

export const vote = ({ room_id, msg_id }: Message, choices: number[]) => post(at`/api/rooms/${room_id}/polls/${msg_id}/votes`, { choices }, { key: newKey() });

export const endNow = ({ room_id, msg_id }: Message) => post(at`/api/rooms/${room_id}/polls/${msg_id}/end`, {}, { key: newKey() });

// stateOf reads how a poll stands; nobody has voted where the server says nothing of it.
export const stateOf = ({ room_id, msg_id }: Message, signal: AbortSignal): Promise<PollState> =>
  get<EntryAnswer>(at`/api/rooms/${room_id}/polls/${msg_id}`, { signal }).then(({ entry }) => entry.poll ?? { voters: 0 });
