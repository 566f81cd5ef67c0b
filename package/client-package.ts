import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { API, NodeBuilderFlags } from 'typescript/unstable/sync'
import { reachedFiles } from './reached-files.ts'

/** Entries of the package: import name, and module below `dist/src`. */
const ENTRIES: Readonly<Record<string, string>> = {
  '.': 'client/index',
  './sums': 'client/event-sums',
  './tabs': 'client/tabs',
}

/** Oldest Node with `AbortSignal.any`, which the client uses. */
const NODE_MIN = '20.3'

/** Declarations with types that are inferred from schemas. */
const NEEDS_ZOD = /from ["']zod["']/
/** A type without parameters, with its comment. */
const EXPORTED_TYPE = /^(\/\*\*(?:(?!\*\/)[^])*\*\/\n)?export type (\w+) =/gm
const IN_FULL =
  NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias | NodeBuilderFlags.MultilineObjectLiterals

/** Writes the package `daybook-client` below `dist`: the built modules that its entries reach, with their types. */
export function writeClientPackage(root: string, dist: string): void {
  const to = join(dist, 'daybook-client')
  const entries = Object.values(ENTRIES).flatMap((path) => [`${path}.js`, `${path}.d.ts`])
  const reached = reachedFiles(join(dist, 'src'), entries)
  for (const path of reached) {
    mkdirSync(dirname(join(to, path)), { recursive: true })
    copyFileSync(join(dist, 'src', path), join(to, path))
  }
  writeInferredTypes(root, to, reached)
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifestOf(root), undefined, 2)}\n`)
  for (const path of globSync('*', { cwd: join(root, 'package', 'client') })) {
    copyFileSync(join(root, 'package', 'client', path), join(to, path))
  }
  copyFileSync(join(root, 'LICENSE'), join(to, 'LICENSE'))
}

/** Replaces declarations that need zod by their exported types in full, because the package has no dependencies. */
function writeInferredTypes(root: string, to: string, paths: readonly string[]): void {
  const config = join(root, 'tsconfig.portable.json')
  const api = new API({ cwd: root })
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
  if (project === undefined) throw new Error(`${config} is no project`)
  const { checker, program } = project
  for (const path of paths) {
    const text = readFileSync(join(to, path), 'utf8')
    if (!NEEDS_ZOD.test(text)) continue
    const source = program.getSourceFile(join(root, 'src', path.replace('.d.ts', '.ts')))
    const module = source && checker.getSymbolAtLocation(source)
    const exported = module === undefined ? [] : checker.getExportsOfModule(module)
    const types = [...text.matchAll(EXPORTED_TYPE)].map(([, comment = '', name]) => {
      const symbol = exported.find((one) => one.name === name)
      if (symbol === undefined) throw new Error(`${path} exports no type ${name}`)
      const type = checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), source, IN_FULL)
      // The client uses no type that has a schema itself.
      return type.includes('ZodType') ? '' : `${comment}export type ${name} = ${type};\n`
    })
    writeFileSync(join(to, path), types.join(''))
  }
  api.close()
}

function manifestOf(root: string): object {
  const { version, license } = Object(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const entries = Object.entries(ENTRIES).map(([name, path]) => [
    name,
    { types: `./${path}.d.ts`, default: `./${path}.js` },
  ])
  return {
    name: 'daybook-client',
    version,
    description:
      'Typed client of a Daybook: figures, events, month files and the live stream, without dependencies',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: `>=${NODE_MIN}` },
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
  }
}
