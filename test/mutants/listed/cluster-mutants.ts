import type { ListedMutant } from './listed-mutant.ts'

const NODE = 'src/cluster/node'
const tests = ['test/cluster/model/node-model.test.ts']

/** Bugs of a node whose log is on a table. */
export const CLUSTER_MUTANTS: readonly ListedMutant[] = [
  {
    id: 'take-over-without-barrier',
    file: `${NODE}/take-over.ts`,
    from: 'const end = await session.barrier()',
    to: 'const end = book.applied().place',
    promise: 'A node leads only after a barrier that standbys have',
    tests,
  },
  {
    id: 'take-over-without-comparison',
    file: `${NODE}/take-over.ts`,
    from: 'await refuseFork(session, place, digest)',
    to: 'await Promise.resolve()',
    promise: 'A node whose newest row is not that of the table does not lead',
    tests,
  },
  {
    id: 'lead-before-others-put-back',
    file: `${NODE}/table-watch.ts`,
    from: 'if (shown > end)',
    to: 'if (shown > end && false)',
    promise: 'Nobody appends while a connected node has newer rows than the table',
    tests,
  },
  {
    id: 'unchanged-commit-unconfirmed',
    file: `${NODE}/lead-commits.ts`,
    from: 'const isNewest = (await session.barrier().catch(() => null)) === place',
    to: 'const isNewest = place >= 0',
    promise: 'A commit without a row is answered after a barrier',
    tests,
  },
  {
    id: 'doubt-taken-for-success',
    file: `${NODE}/lead-commits.ts`,
    from: "switch (await session.append(place + 1, bytes)) {\n    case 'appended':",
    to: "switch (await session.append(place + 1, bytes)) {\n    case 'appended':\n    case 'unknown' as 'appended':",
    promise: 'A commit of unknown outcome is not acknowledged',
    tests,
  },
  {
    id: 'fork-unseen-without-a-row-behind',
    file: `${NODE}/open-node.ts`,
    from: 'if (watch.last() === place && !watch.isCompared()) await refuseFork(table, place, digest)',
    to: 'if (watch.last() < place) await refuseFork(table, place, digest)',
    promise: 'A node that differs from the table in its newest row stops',
    tests,
  },
  {
    id: 'fork-without-evidence',
    file: `${NODE}/open-node.ts`,
    from: "if (machine.stopped?.is === 'fork') await keepEvidence(machine)",
    to: "if (machine.stopped?.is === 'lost') await keepEvidence(machine)",
    promise: 'A node that stops at a fork keeps both branches',
    tests,
  },
  {
    id: 'empty-table-refilled',
    file: `${NODE}/take-over.ts`,
    from: "if (end === 0) throw new NodeStopped({ is: 'lost', place: 1, reason: EMPTY })",
    to: "if (end < 0) throw new NodeStopped({ is: 'lost', place: 1, reason: EMPTY })",
    promise: 'An empty table is another database, and is not refilled',
    tests: ['test/cluster/model/node-stories.test.ts'],
  },
]
