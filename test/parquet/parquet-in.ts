import { openParquetMaker } from '../../src/log/parquet/parquet-month.ts'
import type { ParquetFiles } from '../../src/serve/archive/parquet-reply.ts'

/** The Parquet files of a data directory, which this thread makes. */
export function parquetIn(directory: string): ParquetFiles {
  return {
    async file(month) {
      using maker = openParquetMaker(directory)
      return maker.kept(month, () => undefined) ?? maker.make(month)
    },
    lost: () => undefined,
  }
}
