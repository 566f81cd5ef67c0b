import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { FILE_BYTES_MAX, type Source } from '../../verify/reading/source.ts'
import { CommandError } from '../terminal/world.ts'

const MONTH_FILE = /^(\d{4}-\d{2})\.jsonl\.gz$/

/**
 * Source that reads a folder with the paths below `/api/v1/`: `archive/2026-10.jsonl.gz`, `log/checkpoint`,
 * `summary.json` and so on. A JSON answer is at its path, at its path with `.json`, or in `index.json` of a folder of its
 * name. Files of `archive` and `log` may also be in the folder itself.
 */
export function openFolderSource(folder: string): Source {
  return {
    is: 'folder',
    async read(path) {
      const near = join(folder, basename(path))
      const own = /^(?:archive|log)\//.test(path) ? [near, `${near}.json`] : []
      const file = join(folder, path)
      for (const candidate of [file, `${file}.json`, join(file, 'index.json'), ...own]) {
        const found = await stat(candidate).catch(() => undefined)
        if (found?.isFile() !== true) continue
        if (found.size > FILE_BYTES_MAX)
          throw new CommandError(
            1,
            `${candidate} is larger than ${FILE_BYTES_MAX} bytes, the most that verify reads`,
          )
        return readFile(candidate)
      }
      return undefined
    },
    async months() {
      const names = await Promise.all(
        [folder, join(folder, 'archive')].map((at) => readdir(at).catch(() => [])),
      )
      const months = names.flat().flatMap((name) => MONTH_FILE.exec(name)?.[1] ?? [])
      return [...new Set(months)].toSorted()
    },
    pause: () => Promise.resolve(),
  }
}
