import { addCheckpointBody, type AskingLog, hashes, treeText } from './asking-log.ts'
import type { WitnessCase } from './witness-case.ts'
import { formatBase64 } from '../../src/tlog/note.ts'

/** Cases about signatures. */
const SIGNATURES: readonly WitnessCase[] = [
  {
    name: 'does not know another origin',
    before: 5,
    body: (log) => addCheckpointBody(0, [], log.sign(treeText(`${log.origin}/b`, 9, log.root(9)))),
    status: 404,
  },
  {
    name: 'refuses a checkpoint by an unknown key',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9, { signers: ['unknown'] })),
    status: 403,
  },
  {
    name: 'refuses a checkpoint with a wrong signature',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9, { signers: ['forger'] })),
    status: 403,
  },
  {
    name: 'refuses the signature of another checkpoint',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.checkpoint(8).replace('\n8\n', '\n9\n')),
    status: 403,
  },
  {
    name: 'refuses a wrong signature before it looks at the sizes',
    before: 5,
    body: (log) => addCheckpointBody(10, [], log.checkpoint(9, { signers: ['forger'] })),
    status: 403,
  },
  {
    name: 'refuses a wrong signature before it tells its size',
    before: 5,
    body: (log) => addCheckpointBody(3, [], log.checkpoint(9, { signers: ['forger'] })),
    status: 403,
  },
  {
    name: 'refuses a valid signature beside a wrong one of another known key',
    before: 5,
    body: (log) =>
      addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9, { signers: ['second', 'forger'] })),
    status: 403,
  },
  {
    name: 'refuses a valid signature after a wrong one of the same key',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9, { signers: ['forger', 'first'] })),
    status: 403,
  },
  {
    // litewitness looks at the first signature of each key only.
    name: 'refuses a valid signature before a wrong one of the same key',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9, { signers: ['first', 'forger'] })),
    status: 403,
    litewitness: 200,
    after: 9,
  },
  {
    name: 'ignores signatures by unknown keys',
    before: 5,
    body: (log) =>
      addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9, { signers: ['unknown', 'first'] })),
    status: 200,
    after: 9,
  },
  {
    name: 'takes the signature of either key of a log',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9, { signers: ['second'] })),
    status: 200,
    after: 9,
  },
  {
    name: 'cosigns further lines of a checkpoint',
    before: 5,
    body: (log) =>
      addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9, { extensions: ['more', 'lines'] })),
    status: 200,
    after: 9,
  },
]

/** Bodies that are malformed. */
const FORMS: readonly WitnessCase[] = [
  {
    name: 'refuses an empty body',
    before: 5,
    body: () => '',
    status: 400,
  },
  {
    name: 'refuses a checkpoint alone',
    before: 5,
    body: (log) => log.checkpoint(9),
    status: 400,
  },
  {
    name: 'refuses an old size with a leading zero',
    before: 5,
    body: (log) => addCheckpointBody('05', log.proof(5, 9), log.checkpoint(9)),
    status: 400,
    litewitness: 200,
    after: 9,
  },
  {
    name: 'refuses an old size with a sign',
    before: 5,
    body: (log) => addCheckpointBody('+5', log.proof(5, 9), log.checkpoint(9)),
    status: 400,
    litewitness: 200,
    after: 9,
  },
  {
    name: 'refuses an old size with a space after it',
    before: 5,
    body: (log) => addCheckpointBody('5 ', log.proof(5, 9), log.checkpoint(9)),
    status: 400,
  },
  {
    name: 'refuses an old size below 0',
    before: 5,
    body: (log) => addCheckpointBody(-5, log.proof(5, 9), log.checkpoint(9)),
    status: 400,
  },
  {
    name: 'refuses an old size without digits',
    before: 5,
    body: (log) => addCheckpointBody('', log.proof(5, 9), log.checkpoint(9)),
    status: 400,
  },
  {
    name: 'refuses an old size of more than 64 bits',
    before: 5,
    body: (log) => addCheckpointBody('18446744073709551621', log.proof(5, 9), log.checkpoint(9)),
    status: 400,
  },
  {
    name: 'refuses an old size line in capitals',
    before: 5,
    body: (log) => valid(log).replace('old', 'OLD'),
    status: 400,
  },
  {
    name: 'refuses a proof line of 31 bytes',
    before: 5,
    body: (log) => addCheckpointBody(5, [formatBase64(log.root(5).subarray(1))], log.checkpoint(9)),
    status: 400,
  },
  {
    name: 'refuses a proof line that is not base64',
    before: 5,
    body: (log) => addCheckpointBody(5, ['!'.repeat(44)], log.checkpoint(9)),
    status: 400,
  },
  {
    name: 'refuses a proof of 64 lines',
    before: 5,
    body: (log) => addCheckpointBody(5, hashes(log, 64), log.checkpoint(9)),
    status: 400,
  },
  {
    name: 'refuses lines that end in CR and LF',
    before: 5,
    body: (log) => valid(log).replaceAll('\n', '\r\n'),
    status: 400,
  },
  {
    name: 'refuses bytes that are not UTF-8 in the proof',
    before: 5,
    body: (log) => Buffer.from(valid(log).replace('\n', '\n\xff'), 'latin1'),
    status: 400,
  },
  {
    name: 'refuses bytes that are not UTF-8 in the checkpoint',
    before: 5,
    body: (log) => Buffer.concat([Buffer.from(valid(log).slice(0, -1)), Buffer.of(0xff, 0x0a)]),
    status: 400,
    litewitness: 500,
  },
  {
    name: 'refuses a body without the empty line',
    before: 5,
    body: (log) => valid(log).replace('\n\n', '\n'),
    status: 400,
  },
  {
    name: 'refuses a checkpoint without its last line feed',
    before: 5,
    body: (log) => valid(log).slice(0, -1),
    status: 400,
    litewitness: 500,
  },
  {
    name: 'refuses a checkpoint without a signature',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), treeText(log.origin, 9, log.root(9))),
    status: 400,
    litewitness: 500,
  },
  {
    name: 'refuses a checkpoint of an unknown origin without a signature',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), treeText(`${log.origin}/b`, 9, log.root(9))),
    status: 400,
    litewitness: 404,
  },
  {
    name: 'refuses a signed note that is no checkpoint',
    before: 5,
    body: (log) => addCheckpointBody(5, log.proof(5, 9), log.sign(`${log.origin}\nnine\n`)),
    status: 400,
    litewitness: 500,
  },
  {
    name: 'refuses a checkpoint whose size has a leading zero',
    before: 5,
    body: (log) =>
      addCheckpointBody(
        5,
        log.proof(5, 9),
        log.sign(treeText(log.origin, 9, log.root(9)).replace('\n9\n', '\n09\n')),
      ),
    status: 400,
    litewitness: 500,
  },
]

function valid(log: AskingLog): string {
  return addCheckpointBody(5, log.proof(5, 9), log.checkpoint(9))
}

/** Cases about signatures, and about the form of the body. */
export const REQUEST_CASES: readonly WitnessCase[] = [...SIGNATURES, ...FORMS]
