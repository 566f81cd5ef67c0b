import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from './document.ts'
import { ROOT } from './places.ts'

const IGNORED = new Set(['node_modules', '.git', 'dist', 'dist-release', '.daybook-demo'])

/** Files of the project below a folder, as paths from the root with slashes. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((found) => {
    if (IGNORED.has(found.name)) return []
    const path = folder === '' ? found.name : `${folder}/${found.name}`
    return found.isDirectory() ? filesBelow(path) : [path]
  })
}

/** TypeScript files of the project, tests included. */
export const SOURCES: readonly string[] = ['src', 'sim', 'bench', 'test']
  .flatMap(filesBelow)
  .filter((path) => path.endsWith('.ts'))

/** TypeScript files of `src` and `sim` without tests. */
export const PRODUCT_SOURCES: readonly string[] = SOURCES.filter(
  (path) => /^(?:src|sim)\//.test(path) && !path.endsWith('.test.ts'),
)

/** Paths of project files that a file imports, statically, by `import()` or as the start of a thread. */
export function importsOf(path: string): readonly string[] {
  const specifiers = textOf(path).matchAll(/(?:from|import|resolve)\s*\(?\s*'(\.[^']+)'/g)
  return [...specifiers].map(([, specifier = '']) => join(dirname(path), specifier).replaceAll('\\', '/'))
}

const NO_CODE = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\/\*[^]*?\*\/|\/\/[^\n]*/g

/** Code of a file without comments and plain strings. */
export function codeOf(path: string): string {
  return textOf(path).replaceAll(NO_CODE, "''")
}

/** Files whose code matches the pattern. */
export function filesWith(pattern: RegExp, files: readonly string[]): readonly string[] {
  return files.filter((path) => pattern.test(codeOf(path)))
}

/** Names that a file exports. */
export function exportsOf(path: string): readonly string[] {
  const declared =
    /^export (?:declare )?(?:async )?(?:function\*?|const|let|type|interface|class|enum) (\w+)/gm
  return [...textOf(path).matchAll(declared)].map(([, name = '']) => name)
}
