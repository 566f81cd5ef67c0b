import type { WriterMark } from '../../src/publish/marks/writer-mark.ts'
import { EPOCH_MS, MODEL_LOG } from './model-keys.ts'

/** A mark of a writer B that has told its first one a minute after its start. */
export const SOME_MARK: WriterMark = {
  v: 1,
  node: 'B',
  run: 'B 1',
  number: 0,
  atMs: EPOCH_MS + 60_000,
  sinceMs: EPOCH_MS,
  logId: MODEL_LOG,
  stream: 1,
  place: 12,
  digest: 'digest',
  seq: 100,
  root: 'root',
  program: '1.0.0',
  frames: [1],
  keys: ['0011aabb'],
  rules: '',
  leads: null,
  asks: null,
  answers: [],
  contends: false,
  stopped: null,
}
