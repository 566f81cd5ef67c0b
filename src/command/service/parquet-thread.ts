import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openParquetMaker, ParquetRoomError } from '../../log/parquet/parquet-month.ts'
import type { ParquetFile } from '../../log/store/reader.ts'
import { assert } from '../../protocol/brand.ts'
import type { Month } from '../../protocol/moment.ts'
import { openThreadLink } from '../../publish/thread-link.ts'
import { yieldToServing } from './thread-priority.ts'

/** Settings that the thread starts with. */
export type ParquetThreadSettings = Readonly<{ data: string }>

/** A file that was kept, or was made now; or the reason of this machine why it was not made. */
export type ReadyParquet =
  | Readonly<{ is: 'kept' | 'made'; file: ParquetFile; damaged: readonly string[] }>
  | Readonly<{ is: 'no-room'; reason: string; damaged: readonly string[] }>

/** Messages to the thread. */
export type ToParquetThread = Readonly<{
  /** Closed months without a file. */
  missing(): readonly Month[]
  /** The file of a closed month, made if there is none. */
  ready(month: Month): ReadyParquet
  close(): void
}>

/** Makes the Parquet files of a data directory, one at a time, when serving leaves CPU time. */
function run(port: MessagePort, { data }: ParquetThreadSettings): void {
  yieldToServing(process.platform)
  const maker = openParquetMaker(data)
  openThreadLink<{ sent: {}; received: ToParquetThread }>(port, {
    missing: maker.missing,
    ready(month) {
      const damaged: string[] = []
      const kept = maker.kept(month, (path) => damaged.push(path))
      if (kept !== undefined) return { is: 'kept', file: kept, damaged }
      try {
        return { is: 'made', file: maker.make(month), damaged }
      } catch (error) {
        if (!(error instanceof ParquetRoomError)) throw error
        return { is: 'no-room', reason: error.message, damaged }
      }
    },
    close() {
      maker[Symbol.dispose]()
      port.close()
    },
  })
}

assert(parentPort !== null, 'Parquet files are made in a thread of their own')
const settings: ParquetThreadSettings = workerData
run(parentPort, settings)
