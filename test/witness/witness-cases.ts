import { formatBase64 } from '../../src/tlog/note.ts'
import { addCheckpointBody as ask, type AskingLog, hashes, treeText } from './asking-log.ts'
import type { WitnessCase } from './witness-case.ts'

/** Name, status of the standard, body of the request, and what differs from a witness that has cosigned size 5. */
type Row = readonly [name: string, status: number, body: WitnessCase['body'], more?: Partial<WitnessCase>]

/** A request to cosign size 9 after size 5. */
const growth = (
  log: AskingLog,
  shown: Parameters<AskingLog['checkpoint']>[1] = {},
  old: string | number = 5,
) => ask(old, log.proof(5, 9), log.checkpoint(9, shown))

/** The same with another checkpoint or another proof. */
const withNote = (log: AskingLog, note: string) => ask(5, log.proof(5, 9), note)
const withProof = (log: AskingLog, proof: readonly string[]) => ask(5, proof, log.checkpoint(9))

const FORK = { history: 'forked' } as const
const NONE = { before: 0 } as const

const CONSISTENCY: readonly Row[] = [
  [
    'cosigns the first checkpoint of a log',
    200,
    (log) => ask(0, [], log.checkpoint(5)),
    { ...NONE, after: 5 },
  ],
  ['cosigns the empty tree', 200, (log) => ask(0, [], log.checkpoint(0)), { ...NONE, after: 0 }],
  [
    'refuses an empty tree with the root of another',
    422,
    (log) => ask(0, [], log.sign(treeText(log.origin, 0, log.root(5)))),
    { ...NONE, litewitness: 200, after: 0 },
  ],
  [
    'refuses a first checkpoint with a proof',
    422,
    (log) => growth(log, {}, 0),
    { ...NONE, litewitness: 200, after: 9 },
  ],
  ['names 0 when it has cosigned nothing yet', 409, growth, NONE],
  [
    'cosigns a larger tree with a consistency proof',
    200,
    (log) => ask(5, log.proof(5, 700), log.checkpoint(700)),
    { after: 700 },
  ],
  [
    'cosigns a larger tree than one of a power of two',
    200,
    (log) => ask(256, log.proof(256, 257), log.checkpoint(257)),
    { before: 256, after: 257 },
  ],
  ['cosigns the same tree again', 200, (log) => ask(5, [], log.checkpoint(5)), { after: 5 }],
  ['refuses another root of the same size', 422, (log) => ask(5, [], log.checkpoint(5, FORK))],
  ['refuses the same tree with a proof', 422, (log) => withNote(log, log.checkpoint(5))],
  [
    'refuses a larger tree of a fork',
    422,
    (log) => ask(5, log.proof(5, 9, 'forked'), log.checkpoint(9, FORK)),
  ],
  ['refuses a larger tree of a fork with the proof of the own history', 422, (log) => growth(log, FORK)],
  ['refuses a larger tree without a proof', 422, (log) => withProof(log, [])],
  ['refuses the proof of other sizes', 422, (log) => withProof(log, log.proof(6, 9))],
  [
    'refuses a proof with a line too many',
    422,
    (log) => withProof(log, [...log.proof(5, 9), formatBase64(log.root(5))]),
  ],
  ['refuses a proof of 63 lines that proves nothing', 422, (log) => withProof(log, hashes(log, 63))],
  ['names its size when the old size is smaller', 409, (log) => ask(3, log.proof(3, 9), log.checkpoint(9))],
  ['names its size when the old size is larger', 409, (log) => ask(7, log.proof(7, 9), log.checkpoint(9))],
  [
    'names its size when the checkpoint is smaller',
    409,
    (log) => ask(5, [], log.checkpoint(5)),
    { before: 9 },
  ],
  [
    'names its size before it looks at the proof',
    409,
    (log) => ask(3, hashes(log, 2), log.checkpoint(9, FORK)),
  ],
  ['refuses an old size above that of the checkpoint', 400, (log) => ask(10, [], log.checkpoint(9))],
]

const forged = { signers: ['forger'] } as const

const SIGNATURES: readonly Row[] = [
  [
    'does not know another origin',
    404,
    (log) => ask(0, [], log.sign(treeText(`${log.origin}/b`, 9, log.root(9)))),
  ],
  ['refuses a checkpoint by an unknown key', 403, (log) => growth(log, { signers: ['unknown'] })],
  ['refuses a checkpoint with a wrong signature', 403, (log) => growth(log, forged)],
  [
    'refuses the signature of another checkpoint',
    403,
    (log) => withNote(log, log.checkpoint(8).replace('\n8\n', '\n9\n')),
  ],
  ['refuses a wrong signature before it looks at the sizes', 403, (log) => growth(log, forged, 10)],
  ['refuses a wrong signature before it names its size', 403, (log) => growth(log, forged, 3)],
  [
    'refuses a valid signature beside a wrong one of another known key',
    403,
    (log) => growth(log, { signers: ['second', 'forger'] }),
  ],
  [
    'refuses a valid signature after a wrong one of the same key',
    403,
    (log) => growth(log, { signers: ['forger', 'first'] }),
  ],
  [
    // litewitness looks at the first signature of each key only.
    'refuses a valid signature before a wrong one of the same key',
    403,
    (log) => growth(log, { signers: ['first', 'forger'] }),
    { litewitness: 200, after: 9 },
  ],
  ['ignores signatures by unknown keys', 200, (log) => growth(log, { signers: ['unknown', 'first'] })],
  ['takes the signature of either key of a log', 200, (log) => growth(log, { signers: ['second'] })],
  ['cosigns further lines of a checkpoint', 200, (log) => growth(log, { extensions: ['more', 'lines'] })],
]

const FORMS: readonly Row[] = [
  ['refuses an empty body', 400, () => ''],
  ['refuses a checkpoint alone', 400, (log) => log.checkpoint(9)],
  [
    'refuses an old size with a leading zero',
    400,
    (log) => growth(log, {}, '05'),
    { litewitness: 200, after: 9 },
  ],
  ['refuses an old size with a sign', 400, (log) => growth(log, {}, '+5'), { litewitness: 200, after: 9 }],
  ['refuses an old size with a space after it', 400, (log) => growth(log, {}, '5 ')],
  ['refuses an old size below 0', 400, (log) => growth(log, {}, -5)],
  ['refuses an old size without digits', 400, (log) => growth(log, {}, '')],
  ['refuses an old size of more than 64 bits', 400, (log) => growth(log, {}, '18446744073709551621')],
  ['refuses an old size line in capitals', 400, (log) => growth(log).replace('old', 'OLD')],
  ['refuses a proof line of 31 bytes', 400, (log) => withProof(log, [formatBase64(log.root(5).subarray(1))])],
  ['refuses a proof line that is not base64', 400, (log) => withProof(log, ['!'.repeat(44)])],
  ['refuses a proof of 64 lines', 400, (log) => withProof(log, hashes(log, 64))],
  ['refuses lines that end in CR and LF', 400, (log) => growth(log).replaceAll('\n', '\r\n')],
  [
    'refuses bytes that are not UTF-8 in the proof',
    400,
    (log) => Buffer.from(growth(log).replace('\n', '\n\xff'), 'latin1'),
  ],
  [
    'refuses bytes that are not UTF-8 in the checkpoint',
    400,
    (log) => Buffer.concat([Buffer.from(growth(log).slice(0, -1)), Buffer.of(0xff, 0x0a)]),
    { litewitness: 500 },
  ],
  ['refuses a body without the empty line', 400, (log) => growth(log).replace('\n\n', '\n')],
  [
    'refuses a checkpoint without its last line feed',
    400,
    (log) => growth(log).slice(0, -1),
    { litewitness: 500 },
  ],
  [
    'refuses a checkpoint without a signature',
    400,
    (log) => withNote(log, treeText(log.origin, 9, log.root(9))),
    { litewitness: 500 },
  ],
  [
    'refuses a checkpoint of an unknown origin without a signature',
    400,
    (log) => withNote(log, treeText(`${log.origin}/b`, 9, log.root(9))),
    { litewitness: 404 },
  ],
  [
    'refuses a signed note that is no checkpoint',
    400,
    (log) => withNote(log, log.sign(`${log.origin}\nnine\n`)),
    { litewitness: 500 },
  ],
  [
    'refuses a checkpoint whose size has a leading zero',
    400,
    (log) => withNote(log, log.sign(treeText(log.origin, 9, log.root(9)).replace('\n9\n', '\n09\n'))),
    { litewitness: 500 },
  ],
]

/** Every request of the tests to add-checkpoint, with a log of its own. */
export const WITNESS_CASES: readonly (WitnessCase & Readonly<{ origin: string }>)[] = [
  ...CONSISTENCY,
  ...SIGNATURES,
  ...FORMS,
].map(([name, status, body, more], index) => ({
  name,
  before: 5,
  status,
  body: (log: AskingLog) => body(log),
  ...(status === 200 && { after: 9 }),
  ...more,
  origin: `log.example/${index}`,
}))
