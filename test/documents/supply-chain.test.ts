import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'

/** Packages that an installation may have, and all that the lockfile may name. A decision raises them. */
const RUNTIME_PACKAGES_MAX = 67
const LOCKED_PACKAGES_MAX = 347
/** Licences that a runtime package may have. All allow use, change and distribution with the MIT licence. */
const LICENCES: ReadonlySet<string> = new Set([
  'Apache-2.0',
  'BSD-2-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MPL-2.0',
  'Unlicense',
])
const LIST = 'docs/licences.md'
/** Rewrites the table of the list. */
const UPDATES = process.env['UPDATE_EXAMPLES'] === '1'

type LockedPackage = Readonly<{
  version: string
  license?: string
  dev?: true
  optional?: true
  devOptional?: true
}>

const LOCKED: Readonly<Record<string, LockedPackage>> = JSON.parse(textOf('package-lock.json')).packages
const runtime = Object.entries(LOCKED)
  .filter(([path, { dev, optional, devOptional }]) => path !== '' && !(dev || optional || devOptional))
  .map(([path, { version, license = 'none' }]) => ({
    name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    version,
    licence: license,
  }))

suite('a package of somebody else', () => {
  const all = Object.keys(LOCKED).filter((path) => path !== '')

  test('is one of few', () => {
    assert.ok(runtime.length > 20, 'the packages are found')
    assert.ok(runtime.length <= RUNTIME_PACKAGES_MAX, `${runtime.length} packages at run time`)
    assert.ok(all.length <= LOCKED_PACKAGES_MAX, `${all.length} packages in the lockfile`)
  })

  test('runs no script when it is installed', () => {
    // The lockfile says so too, but an attacker who changes a package may change the lockfile with it.
    const installed = all.filter((path) => existsSync(join(ROOT, path, 'package.json')))
    assert.ok(installed.length > 200, `${installed.length} packages are installed`)
    const scripted = installed.filter((path) => {
      const { scripts = {} } = JSON.parse(textOf(`${path}/package.json`)) as { scripts?: object }
      const runs = ['preinstall', 'install', 'postinstall'].some((name) => Object.hasOwn(scripts, name))
      return runs || existsSync(join(ROOT, path, 'binding.gyp'))
    })
    assert.deepEqual(scripted, [])
    for (const file of ['.ci/run', 'Dockerfile']) {
      const installs = textOf(file).match(/^.*npm ci .*$/gm) ?? []
      assert.ok(installs.length > 0, file)
      for (const line of installs.filter((found) => !/^\s*#/.test(found)))
        assert.match(line, / --ignore-scripts\b/, file)
    }
  })

  test('is installed without a warning by the npm of an older Node', async () => {
    // The packages ask for the Node that `npm ci` installs, and npm runs on the machine's own.
    const words = ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit', '--no-fund']
    const path = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.includes('node_modules'))
    const env = { ...process.env, PATH: path.join(':') }
    const { stderr } = await promisify(execFile)('npm', words, { cwd: ROOT, env })
    assert.equal(stderr, '')
  })

  test('has a licence that the list names', () => {
    const unknown = runtime.filter(({ licence }) => !LICENCES.has(licence))
    assert.deepEqual(unknown, [])
    const byLicence = Map.groupBy(runtime, ({ licence }) => licence)
    const lines = [...byLicence]
      .map(([licence, packages]) => {
        const names = packages.map(({ name, version }) => `\`${name}\` ${version}`).toSorted()
        return `- **${licence}**: ${names.join(', ')}\n`
      })
      .toSorted()
    const expected = textOf(LIST).replace(/(?:^- \*\*.*\n)+/m, () => lines.join(''))
    assert.ok(expected.includes(lines.join('')), 'the document has a list')
    if (UPDATES) writeFileSync(join(ROOT, LIST), expected)
    else assert.equal(textOf(LIST), expected)
  })
})

suite('the signatures of the registry', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-signatures-'))
  test.after(() => rmSync(folder, { recursive: true }))

  /** Runs the check of CI with an npm that says this and ends with this code. */
  function audited(said: string, code: number): Readonly<{ code: number | null; output: string }> {
    const npm = `#!/bin/sh\n[ "$1 $2" = "audit signatures" ] || exit 99\ncat "$0.said"\nexit ${code}\n`
    writeFileSync(join(folder, 'npm'), npm, { mode: 0o755 })
    writeFileSync(join(folder, 'npm.said'), said)
    const { status, stdout, stderr } = spawnSync(join(ROOT, '.ci', 'audit-signatures'), {
      env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` },
      encoding: 'utf8',
    })
    return { code: status, output: stdout + stderr }
  }

  test('are verified by CI, which fails for a wrong or missing one and for any failure', () => {
    assert.match(readFileSync(join(ROOT, '.ci', 'run'), 'utf8'), /^\.ci\/audit-signatures$/m)
    assert.equal(
      audited('audited 350 packages in 3s\n\n350 packages have verified registry signatures', 0).code,
      0,
    )
    for (const said of [
      'audited 350 packages in 3s\n\n1 package has an invalid registry signature:\n\npino@10.4.0',
      '1 package has a missing registry signature but the registry is providing signing keys:\n\npino@10.4.0',
      '1 package has an invalid attestation:\n\npino@10.4.0 (https://registry.npmjs.org/)',
      'npm error found no installed dependencies to audit',
      'npm error network request to https://registry.npmjs.org/pino failed, reason: ECONNRESET',
      '',
    ]) {
      const { code, output } = audited(said, 1)
      assert.equal(code, 1, said)
      assert.ok(output.includes(said), 'CI shows what npm said')
    }
  })

  test('are missed aloud where nobody can verify them: no keys at the registry, or no way to the list of keys', () => {
    for (const said of [
      'npm error found no dependencies to audit that were installed from a supported registry',
      'npm error code ENOTFOUND\nnpm error network request to https://tuf-repo-cdn.sigstore.dev/15.root.json failed, reason: getaddrinfo ENOTFOUND',
    ]) {
      const { code, output } = audited(said, 1)
      assert.equal(code, 0, said)
      assert.match(output, /so no signature was verified/)
    }
  })
})
