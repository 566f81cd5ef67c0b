import type { CommitRow, LogRow } from '../../../src/cluster/row/log-row.ts'

const ZEROS = new Uint8Array(32)

/** Wrong rows in place of one of the log: name of the fault, place, change of its content, and the reason. */
export const WRONG_ROWS: readonly (readonly [
  string,
  number,
  (commit: CommitRow) => Partial<LogRow>,
  RegExp,
])[] = [
  ['another log id', 2, () => ({ logId: 'f'.repeat(32) }), /^it is of another log$/],
  ['another place inside', 2, () => ({ place: 9 }), /^it was made for place 9$/],
  [
    'another row before it',
    2,
    () => ({ prev: ZEROS }),
    /^it does not follow the row at place 1 of this node$/,
  ],
  ['another first seq', 2, () => ({ first: 2 }), /^it begins with seq 2 after seq 0$/],
  ['another root', 2, () => ({ root: ZEROS }), /^its root is not that of its events$/],
  ['a line too few', 2, cut, /^its root is not that of its events$/],
  [
    'a line that is no event',
    2,
    ({ lines }) => ({ lines: ['{}', ...lines.slice(1)] }),
    /^seq 1 is no event$/,
  ],
  [
    'a line that is no JSON',
    2,
    ({ lines }) => ({ lines: ['nonsense', ...lines.slice(1)] }),
    /^seq 1 is no event$/,
  ],
  [
    'a line with a space',
    2,
    ({ lines }) => ({ lines: lines.map((line) => line.replace(':', ': ')) }),
    /^seq 1 is no event$/,
  ],
  ['a line twice', 2, ({ lines }) => ({ lines: [lines[0] ?? '', lines[0] ?? ''] }), /^seq 2 is no event$/],
  ['events that go back in time', 3, backInTime, /^seq 3 is before the event before it$/],
  [
    'details of another event',
    2,
    () => ({ details: ['{"seq":7,"details":{}}', null] }),
    /^seq 1 has details of another event$/,
  ],
  ['a ref that was used', 3, () => ({ refs: [{ ref: 'a', digest: ZEROS }] }), /UNIQUE constraint failed/],
  [
    'no segment of the month that ends',
    3,
    () => ({ segments: [] }),
    /^it lacks the segment of 2026-01 \(events\) at byte 10$/,
  ],
  [
    'a segment of other lines',
    3,
    ({ segments }) => ({ segments: segments.map((one) => ({ ...one, bytes: Buffer.from('no') })) }),
    /^its segment of 2026-01 \(events\) at byte 10 does not hold its lines$/,
  ],
  [
    'a segment that ends nowhere',
    2,
    () => ({ segments: [{ month: '2026-01' as never, file: 'events', start: 10, bytes: ZEROS }] }),
    /^it carries the segment of 2026-01 \(events\) at byte 10, which does not end here$/,
  ],
  [
    'a change of a draft that is not held',
    5,
    ({ held }) => ({ held: [...held, ...held] }),
    /^it changes a draft that is not held$/,
  ],
  [
    'a draft that is held already',
    4,
    ({ held }) => ({ held: [...held, ...held] }),
    /^it holds a draft that is held$/,
  ],
]

function cut({ lines, details, refs }: CommitRow): Partial<CommitRow> {
  return {
    lines: lines.slice(1).map((line) => line.replace('"seq":2', '"seq":1')),
    details: details.slice(1),
    refs: refs.slice(1),
  }
}

function backInTime({ lines }: CommitRow): Partial<CommitRow> {
  const [line = ''] = lines
  return {
    lines: [line.replace('2026-02-02', '2026-01-02').replace(/"atMs":\d+/, `"atMs":${Date.UTC(2026, 0, 2)}`)],
  }
}
