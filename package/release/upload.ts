import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkOut } from './checkout.ts'
import type { Source } from './preconditions.ts'
import { nodeFirst } from './programs.ts'
import type { PackedPackage } from './packages.ts'

/** Programs print to stderr, so that stdout has the report of the release only. */
const STDIO: ['ignore', number, number] = ['ignore', 2, 2]

/** Runs `.ci/run` in a clone of the commit of its own. Fails unless every check passes. */
export function passCi(source: Source, folder: string): void {
  checkOut(source, folder)
  const env = { ...process.env, ...nodeFirst() }
  const { status } = spawnSync(join(folder, '.ci', 'run'), { cwd: folder, env, stdio: STDIO })
  rmSync(folder, { recursive: true, force: true })
  if (status !== 0)
    throw new Error('CI did not pass: `.ci/run` names the failing test above. Nothing was uploaded')
}

/** Copies an image with skopeo, for all its architectures. `registry` is a destination of skopeo without a tag. */
export function uploadImage(archive: string, registry: string, version: string): void {
  run('skopeo', ['copy', '--all', `oci-archive:${archive}`, `${registry}:${version}`])
}

/** Publishes a package with npm. A registry that has the same bytes already is left as it is. */
export function uploadPackage(folder: string, name: string, version: string, packed: PackedPackage): void {
  const env = { ...process.env, ...nodeFirst() }
  const asked = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], { env, encoding: 'utf8' })
  const there = asked.status === 0 ? asked.stdout.trim() : ''
  if (there === packed.integrity) return
  if (there !== '') {
    throw new Error(`the registry has another ${name} ${version}: raise the version in package.json`)
  }
  // npm gives the tag `latest` to a version before a release too, unless told otherwise.
  const tag = version.includes('-') ? 'next' : 'latest'
  run('npm', ['publish', join(folder, packed.file), '--tag', tag])
}

function run(program: string, words: readonly string[]): void {
  const { status, error } = spawnSync(program, words, {
    env: { ...process.env, ...nodeFirst() },
    stdio: STDIO,
  })
  if (status !== 0) {
    throw new Error(
      `${program} ${words[0]} failed. What was uploaded before stays: run the same command again when it is mended`,
      { cause: error },
    )
  }
}
