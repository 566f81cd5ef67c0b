import { getLibFiles, ts } from '@ts-morph/common'
import { join } from 'node:path'
import { ROOT } from '../stage/places.ts'
import { PRODUCT_SOURCES } from '../stage/source-tree.ts'
import { type Mutant, sourceOf } from './mutant.ts'

/**
 * Opens a check whether the compiler accepts a mutant in its module. A mutant that `npm run check` refuses is no bug that
 * the tests must find. The first check reads all sources.
 */
export function openTypeCheck(): (mutant: Mutant) => boolean {
  const { sys } = ts
  const libraries = new Map(getLibFiles().map(({ fileName, text }) => [`/lib/${fileName}`, text]))
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => sys.readFile(path)) as {
    config: unknown
  }
  const { options } = ts.parseJsonConfigFileContent(config, sys, ROOT)
  const roots = PRODUCT_SOURCES.filter((path) => path.startsWith('src/') && !path.includes('/islands/'))
  const changed = new Map<string, string>()
  let version = 0
  const readFile = (path: string): string | undefined =>
    changed.get(path) ?? libraries.get(path) ?? sys.readFile(path)
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => roots.map((path) => join(ROOT, path)),
    getScriptVersion: (path) => (changed.has(path) ? String(version) : '0'),
    getScriptSnapshot(path) {
      const text = readFile(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: (given) => `/lib/${ts.getDefaultLibFileName(given)}`,
    fileExists: (path) => libraries.has(path) || sys.fileExists(path),
    readFile,
    directoryExists: (path) => sys.directoryExists(path),
    getDirectories: (path) => sys.getDirectories(path),
    realpath: (path) => sys.realpath?.(path) ?? path,
  })
  return ({ file, start, from, to }) => {
    const path = join(ROOT, file)
    const source = sourceOf(file)
    version += 1
    changed.set(path, `${source.slice(0, start)}${to}${source.slice(start + from.length)}`)
    try {
      return [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)].every(
        isMinor,
      )
    } finally {
      changed.delete(path)
    }
  }
}

/** A name that is no longer used: the compiler refuses it, but who makes the mistake removes the name too. */
const UNUSED_CODES = new Set([6133, 6192, 6196, 6198])

function isMinor({ code }: ts.Diagnostic): boolean {
  return UNUSED_CODES.has(code)
}
