/// <reference path="../words/words.d.ts" />

// What the views say with the app's own words. They are pages of their own, in English, and have
// only the texts that they show.

import texts from 'words:views';
import type { Key } from '../words';
import { format } from '../words/format';

export const t = (key: Key): string => format(texts[key]!).join('');
