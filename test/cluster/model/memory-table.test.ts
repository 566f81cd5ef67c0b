import { randomOf } from '../../../sim/random.ts'
import { testTableConformance } from '../table/conformance.ts'
import type { TableRig } from '../table/table-rig.ts'
import { firstRow } from './memory-book.ts'
import { openMemoryTable } from './memory-table.ts'
import { openModelClock } from '../../stage/virtual-clock.ts'

/** Time between two attempts, in virtual milliseconds. */
const PAUSE_MS = 100

function openMemoryTableRig(): TableRig {
  const clock = openModelClock()
  const open = (): ReturnType<typeof openMemoryTable> =>
    openMemoryTable({ clock, random: randomOf('conformance'), first: firstRow() })
  let table = open()
  return {
    async reset() {
      table = open()
      table.replace([])
    },
    open: () => table.connect().table,
    cutSessions: async () => table.endSessions(),
    partStandbys: async () => table.setStandby(false),
    joinStandbys: async () => table.setStandby(true),
    failOver: async () => table.failover('sync'),
    cutTail: async (from) => void table.loseTail(table.rows().length - from + 1),
    pause: () => clock.sleep(PAUSE_MS),
  }
}

testTableConformance('a table in memory', async () => openMemoryTableRig(), false)
