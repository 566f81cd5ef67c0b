import { bigStore } from './stage/big-store.ts'
import { startService } from './stage/processes.ts'
import { benchSettings, inTurns, report } from './stage/report.ts'

/** Measures the time from the start of the process to its first answer, on a large log and on a small one. */

const SMALL_EVENTS = 100_000

const { store, events, rounds } = benchSettings()
const stores = [events, SMALL_EVENTS].map((count) => bigStore(store, count))
const [ours = [], theirs = []] = await inTurns(rounds, stores, async (data) => {
  const began = performance.now()
  await using service = await startService(data)
  await (await fetch(`${service.node.url}/api/v1/summary`)).text()
  return performance.now() - began
})
report([
  {
    what: 'start to the first answer',
    unit: 'ms',
    peer: 'a log of 100,000 events',
    ours,
    theirs,
    better: 'less',
  },
])
