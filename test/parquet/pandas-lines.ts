import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { PANDAS } from '../processes/test-needs.ts'
import type { LinePair } from './every-event.ts'
import { pairOf, type RowValue } from './parquet-lines.ts'

/** Ways in which pandas reads a Parquet file with pyarrow, by the types that its columns then have. */
export const PANDAS_WAYS = {
  numpy: '',
  'nullable numpy': "dtype_backend='numpy_nullable'",
  pyarrow: "dtype_backend='pyarrow'",
  categories: "read_dictionary=['type', 'kind', 'month']",
} as const

/** A program that prints each row as JSON: moments as milliseconds, decimals as text. */
const program = (way: string): string => `
import decimal, json, sys
import pandas as pd

frame = pd.read_parquet(sys.argv[1], engine='pyarrow', ${way})
assert str(frame['at'].dtype) in ('datetime64[ms, UTC]', 'timestamp[ms, tz=UTC][pyarrow]'), frame['at'].dtype
assert ('read_dictionary' in ${JSON.stringify(way)}) == (str(frame['kind'].dtype) == 'category'), frame['kind'].dtype

def value(name, cell):
    if cell is None or pd.isna(cell):
        return None
    if name in ('kots', 'price'):
        assert isinstance(cell, decimal.Decimal), (name, type(cell))
        return format(cell, 'f')
    if isinstance(cell, pd.Timestamp):
        assert str(cell.tz) == 'UTC'
        return round(cell.timestamp() * 1000)
    if isinstance(cell, str):
        return cell
    if name == 'claim':
        assert cell in (True, False)
        return bool(cell)
    assert int(cell) == cell, (name, cell)
    return int(cell)

columns = [[value(name, cell) for cell in frame[name]] for name in frame]
for row in zip(*columns):
    print(json.dumps(dict(zip(frame.columns, row))))
`

/** Lines of a Parquet file at a path or URL, as pandas reads it with pyarrow. */
export async function linesByPandas(
  path: string,
  way: keyof typeof PANDAS_WAYS,
): Promise<readonly LinePair[]> {
  // A day of UTC begins on the day before in New York.
  const env = { ...process.env, TZ: 'America/New_York' }
  const words = ['-c', program(PANDAS_WAYS[way]), path]
  const { stdout } = await promisify(execFile)(PANDAS, words, { env, maxBuffer: 2 ** 30 })
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const row = JSON.parse(line) as Readonly<Record<string, RowValue>>
      return pairOf((name) => row[name] ?? null)
    })
}
