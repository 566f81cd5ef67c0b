import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from './document.ts'
import { ROOT } from './places.ts'

const LEFT_OUT = new Set(['node_modules', '.git', 'dist', '.daybook-demo'])

/** The files of the project below a folder, as paths from its root with slashes. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((found) => {
    if (LEFT_OUT.has(found.name)) return []
    const path = folder === '' ? found.name : `${folder}/${found.name}`
    return found.isDirectory() ? filesBelow(path) : [path]
  })
}

/** The TypeScript of the project; tests of modules stand beside them. */
export const SOURCES: readonly string[] = ['src', 'sim', 'bench', 'test']
  .flatMap(filesBelow)
  .filter((path) => path.endsWith('.ts'))

/** Sources of `src` and `sim` but their tests: what runs. */
export const RUNNING: readonly string[] = SOURCES.filter(
  (path) => /^(?:src|sim)\//.test(path) && !path.endsWith('.test.ts'),
)

/** The paths of our own files that a file imports, statically, by `import()` or as the root of a thread. */
export function importsOf(path: string): readonly string[] {
  const specifiers = textOf(path).matchAll(/(?:from|import|resolve)\s*\(?\s*'(\.[^']+)'/g)
  return [...specifiers].map(([, specifier = '']) => join(dirname(path), specifier).replaceAll('\\', '/'))
}

const NO_CODE = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\/\*[^]*?\*\/|\/\/[^\n]*/g

/** The code of a file without its comments and plain strings. */
export function codeOf(path: string): string {
  return textOf(path).replaceAll(NO_CODE, "''")
}

/** The files whose code matches the pattern. */
export function filesWith(pattern: RegExp, files: readonly string[]): readonly string[] {
  return files.filter((path) => pattern.test(codeOf(path)))
}

/** The names that a file exports. */
export function exportsOf(path: string): readonly string[] {
  const declared =
    /^export (?:declare )?(?:async )?(?:function\*?|const|let|type|interface|class|enum) (\w+)/gm
  return [...textOf(path).matchAll(declared)].map(([, name = '']) => name)
}
