// Voice notes: what they are called, and where there is no microphone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canRecord, nameOf } from '../src/screens/room/files/voice';

test('a note is called by its time, with the ending of what it was recorded as', () => {
  const at = new Date(2026, 0, 5, 7, 4, 9);
  assert.equal(nameOf('Voice note', 'audio/webm', at), 'Voice note 2026-01-05 07.04.09.webm');
  assert.equal(nameOf('Nota de voz', 'audio/mp4;codecs=opus', at), 'Nota de voz 2026-01-05 07.04.09.m4a');
  assert.equal(nameOf('x', 'audio/ogg', at), 'x 2026-01-05 07.04.09.ogg');
});

test('a browser that can’t record is offered nothing', () => {
  assert.equal(canRecord(), false);
  const machine = (value: object) => Object.defineProperty(globalThis, 'navigator', { value, configurable: true });
  Object.assign(globalThis, { MediaRecorder: { isTypeSupported: () => true } });
  machine({});
  assert.equal(canRecord(), false, 'without a microphone, as over plain http');
  machine({ mediaDevices: {} });
  assert.equal(canRecord(), true);
});
