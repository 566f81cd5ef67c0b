import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { outputOf } from '../release/programs.ts'
import { ROOT } from './facts.ts'
import { buildImages } from './image.ts'
import { lockNewestLibraries } from './libraries.ts'
import { packProgram } from './program.ts'
import { fillRoot } from './root-folder.ts'

const USAGE = `Builds the container image on Debian, without a daemon: an OCI archive of both architectures, and an archive of
each for \`docker load\`.

  --to DIR              folder for the archives (default: dist-image)
  --package FILE        tarball of Daybook's npm package (default: packed from this clone)
  --root DIR            only fill a root folder for this machine's architecture, as the Dockerfile does
  --newest-libraries    take Debian's newest packages in place of those of libraries.json
  --lock-libraries      only write the newest versions of Debian's packages into libraries.json
`

const { values } = parseArgs({
  options: {
    to: { type: 'string', default: 'dist-image' },
    package: { type: 'string' },
    root: { type: 'string' },
    'newest-libraries': { type: 'boolean' },
    'lock-libraries': { type: 'boolean' },
    help: { type: 'boolean' },
  },
})
const libraries = values['newest-libraries'] === true ? 'newest' : 'locked'
const scratch = mkdtempSync(join(tmpdir(), 'daybook-build-'))
try {
  if (values.help === true) process.stdout.write(USAGE)
  else if (values['lock-libraries'] === true) lockNewestLibraries(scratch)
  else if (values.root === undefined) await build(resolve(values.to))
  else fillRootFolder(resolve(values.root))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function build(to: string): Promise<void> {
  const git = (...words: readonly string[]): string => outputOf('git', words, { cwd: ROOT }).trim()
  const { archive, digest, images } = await buildImages({
    to,
    architectures: ['amd64', 'arm64'],
    libraries,
    tarball: tarballPath(),
    level: 6,
    // The commit, with `-dirty` behind it when files differ from it.
    revision: git('describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'),
    seconds: Number(git('log', '-1', '--format=%ct')),
  })
  process.stdout.write(`${archive}: ${digest}\n`)
  for (const image of images)
    process.stdout.write(`${image.archive}: ${(image.bytes / 1e6).toFixed(1)} MB, ${image.digest}\n`)
}

function fillRootFolder(root: string): void {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
  fillRoot({ architecture, libraries, tarball: tarballPath(), scratch }, () => root)
}

function tarballPath(): string {
  return values.package === undefined ? packProgram(ROOT, join(scratch, 'package')) : resolve(values.package)
}
