import { addCheckpointBody, hashes, treeText } from './asking-log.ts'
import type { WitnessCase } from './witness-case.ts'
import { formatBase64 } from '../../src/tlog/note.ts'

/** Cases about sizes and proofs. */
export const CONSISTENCY_CASES: readonly WitnessCase[] = [
  {
    name: 'cosigns the first checkpoint of a log',
    before: 0,
    body: (log) => addCheckpointBody(0, [], log.checkpoint(5)),
    status: 200,
    after: 5,
  },
  {
    name: 'cosigns the empty tree',
    before: 0,
    body: (log) => addCheckpointBody(0, [], log.checkpoint(0)),
    status: 200,
    after: 0,
  },
  {
    name: 'refuses an empty tree with the root of another',
    before: 0,
    body: (log) => addCheckpointBody(0, [], log.sign(treeText(log.origin, 0, log.root(5)))),
    status: 422,
    litewitness: 200,
    after: 0,
  },
  {
    name: 'refuses a first checkpoint with a proof',
    before: 0,
    body: (log) => addCheckpointBody(0, log.proof(5, 9), log.checkpoint(9)),
    status: 422,
    litewitness: 200,
    after: 9,
  },
  {
    name: 'names 0 when it has cosigned nothing yet',
    before: 0,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9)),
    status: 409,
  },
  {
    name: 'cosigns a larger tree with a consistency proof',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 700), log.checkpoint(700)),
    status: 200,
    after: 700,
  },
  {
    name: 'cosigns a larger tree than one of a power of two',
    before: 256,
    body: (log) => addCheckpointBody(256, log.proof(256, 257), log.checkpoint(257)),
    status: 200,
    after: 257,
  },
  {
    name: 'cosigns the same tree again',
    before: 5,
    body: (log) => addCheckpointBody(5, [], log.checkpoint(5)),
    status: 200,
    after: 5,
  },
  {
    name: 'refuses another root of the same size',
    before: 5,
    body: (log) => addCheckpointBody(5, [], log.checkpoint(5, { history: 'forked' })),
    status: 422,
  },
  {
    name: 'refuses the same tree with a proof',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.checkpoint(5)),
    status: 422,
  },
  {
    name: 'refuses a larger tree of a fork',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9, 'forked'), log.checkpoint(9, { history: 'forked' })),
    status: 422,
  },
  {
    name: 'refuses a larger tree of a fork with the proof of the own history',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9, { history: 'forked' })),
    status: 422,
  },
  {
    name: 'refuses a larger tree without a proof',
    before: 5,
    body: (log) => addCheckpointBody(5, [], log.checkpoint(9)),
    status: 422,
  },
  {
    name: 'refuses the proof of other sizes',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(6, 9), log.checkpoint(9)),
    status: 422,
  },
  {
    name: 'refuses a proof with a line too many',
    before: 5,
    body: (log) => addCheckpointBody(5, [...log.proof(5, 9), formatBase64(log.root(5))], log.checkpoint(9)),
    status: 422,
  },
  {
    name: 'refuses a proof of 63 lines that proves nothing',
    before: 5,
    body: (log) => addCheckpointBody(5, hashes(log, 63), log.checkpoint(9)),
    status: 422,
  },
  {
    name: 'names its size when the old size is smaller',
    before: 5,
    body: (log) => addCheckpointBody(3, log.proof(3, 9), log.checkpoint(9)),
    status: 409,
  },
  {
    name: 'names its size when the old size is larger',
    before: 5,
    body: (log) => addCheckpointBody(7, log.proof(7, 9), log.checkpoint(9)),
    status: 409,
  },
  {
    name: 'names its size when the checkpoint is smaller',
    before: 9,
    body: (log) => addCheckpointBody(5, [], log.checkpoint(5)),
    status: 409,
  },
  {
    name: 'names its size before it looks at the proof',
    before: 5,
    body: (log) => addCheckpointBody(3, hashes(log, 2), log.checkpoint(9, { history: 'forked' })),
    status: 409,
  },
  {
    name: 'refuses an old size above that of the checkpoint',
    before: 5,
    body: (log) => addCheckpointBody(10, [], log.checkpoint(9)),
    status: 400,
  },
]
