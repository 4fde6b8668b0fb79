// Where a file of a message is read from.

import { at } from '../../../api';
import type { Attachment } from '../../../types';

export const urlOf = (room: string, f: Attachment) => at`/api/rooms/${room}/files/${f.file_id}/content`;

export const pictureOf = (room: string, f: Attachment, size: 'small' | 'large') => at`/api/rooms/${room}/files/${f.file_id}/thumbnail` + `?size=${size}`;
