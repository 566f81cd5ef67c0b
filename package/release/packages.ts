import { basename } from 'node:path'
import { outputOf } from './programs.ts'

/** A packed npm package: its file, and its integrity as npm prints it. */
export type PackedPackage = Readonly<{ file: string; integrity: string }>

/** Packs both npm packages of a checkout into a folder: `daybook`, which builds both, and `daybook-client`. */
export function packPackages(
  checkout: string,
  to: string,
  env: NodeJS.ProcessEnv,
): Readonly<{ whole: PackedPackage; client: PackedPackage }> {
  const whole = packFolder(checkout, '.', to, env)
  return { whole, client: packFolder(checkout, './dist/daybook-client', to, env) }
}

/** Packs the npm package in a folder of a clone. */
export function packFolder(
  clone: string,
  folder: string,
  to: string,
  env?: NodeJS.ProcessEnv,
): PackedPackage {
  const told = outputOf('npm', ['pack', folder, '--json', '--silent', '--pack-destination', to], {
    cwd: clone,
    ...(env === undefined ? {} : { env }),
  })
  const [{ filename, integrity }] = JSON.parse(told)
  return { file: basename(String(filename)), integrity: String(integrity) }
}
