import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { blocksOf, textOf } from '../stage/document.ts'
import { MAIN, ROOT } from '../stage/places.ts'
import { PYTHON, skipUnless, skipWithout } from '../processes/test-needs.ts'

const SITE = 'site.example'
const run = promisify(execFile)

type Part = Readonly<{
  image: string
  user: string
  read_only: boolean
  cap_drop: readonly string[]
  security_opt: readonly string[]
  restart: string
  environment?: Readonly<Record<string, string>>
  command?: string | readonly string[]
  networks: Readonly<Record<string, Readonly<{ ipv4_address?: string }> | null>>
  ports?: readonly unknown[]
  volumes: readonly string[]
  healthcheck?: Readonly<{ test: readonly string[] }>
  secrets?: readonly Readonly<{ source: string }>[]
}>

/** The parts of `docker-compose config` that are held here. */
type Composed = Readonly<{
  services: Readonly<Record<string, Part>>
  networks: Readonly<Record<string, Readonly<{ internal?: boolean }>>>
  secrets: Readonly<Record<string, Readonly<{ file: string }>>>
}>

async function composed(site: string): Promise<Composed> {
  const env = { ...process.env, DAYBOOK_SITE: site }
  const words = ['--project-directory', ROOT, '--file', join(ROOT, 'compose.yaml'), 'config']
  const { stdout } = await run('docker-compose', words, { env })
  const script = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'
  const parsed = spawnSync(PYTHON, ['-c', script], { input: stdout, encoding: 'utf8' })
  return JSON.parse(parsed.stdout)
}

/** Script that a service runs at its start. Compose doubles each dollar sign in what it prints. */
function scriptOf({ command = [] }: Part): string {
  return [command].flat().join(' ').replaceAll('$$', '$')
}

/** Places of the machine that a service sees, by their places in the container. */
function bindsOf({ volumes }: Part): readonly (readonly [from: string, to: string, mode: string])[] {
  return volumes.flatMap((volume) => {
    const [from = '', to = '', mode = ''] = volume.split(':')
    return from.startsWith(ROOT) ? [[from.slice(ROOT.length + 1), to, mode] as const] : []
  })
}

suite('compose.yaml', { skip: skipWithout('docker-compose', 'promtool') }, () => {
  let whole: Composed
  let parts: readonly (readonly [string, Part])[]
  let folder = ''
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'daybook-compose-'))
    whole = await composed(SITE)
    parts = Object.entries(whole.services)
  })
  after(() => rmSync(folder, { recursive: true }))
  const part = (name: string): Part => {
    const found = whole.services[name]
    assert.ok(found !== undefined, name)
    return found
  }
  const variable = (name: string): string => String(part('daybook').environment?.[name])

  test('needs the host name of the site, which is in the name of the log for ever', async () => {
    await assert.rejects(composed(''), /give the host name of the site/)
    assert.equal(variable('DAYBOOK_ORIGIN'), `${SITE}/book`)
    assert.equal(variable('DAYBOOK_PUBLIC_URL'), `https://${SITE}`)
  })

  test('gives every service a user, a read-only root, no capability and an exact version', () => {
    assert.deepEqual(parts.map(([name]) => name).toSorted(), ['daybook', 'grafana', 'nginx', 'prometheus'])
    for (const [name, { image, user, read_only: isReadOnly, cap_drop: dropped, ...rest }] of parts) {
      assert.match(image, /:v?\d+\.\d+\.\d+$/, name)
      assert.match(user, /^[1-9]\d*:\d+$/, name)
      assert.equal(isReadOnly, true, name)
      assert.deepEqual(dropped, ['ALL'], name)
      assert.deepEqual(rest.security_opt, ['no-new-privileges:true'], name)
      assert.equal(rest.restart, 'unless-stopped', name)
    }
  })

  test('opens only nginx to everyone, and Grafana to this machine', () => {
    const ports = parts.map(([name, { ports: open = [] }]) => [name, JSON.stringify(open)])
    const { nginx = '', grafana = '', ...others } = Object.fromEntries(ports)
    assert.match(nginx, /80.*443/)
    assert.match(grafana, /^\["127\.0\.0\.1:3000:3000/)
    assert.deepEqual(Object.values(others), ['[]', '[]'])
  })

  test('lets only Prometheus reach the private listener, in a network without a way out', () => {
    assert.equal(whole.networks['private']?.internal, true)
    const members = parts.filter(([, { networks }]) => 'private' in networks).map(([name]) => name)
    assert.deepEqual(members.toSorted(), ['daybook', 'prometheus'])
    const { networks } = part('daybook')
    assert.equal(variable('DAYBOOK_PUBLISH_HOST'), networks['private']?.ipv4_address)
    assert.equal(variable('DAYBOOK_HOST'), networks['front']?.ipv4_address)
    const proxy = part('nginx').networks['front']?.ipv4_address
    assert.equal(variable('DAYBOOK_TRUST_PROXY'), `${proxy}/32`)
  })

  test('runs the image of this clone as the image says', () => {
    const { image, user, volumes, healthcheck } = part('daybook')
    const dockerfile = textOf('Dockerfile')
    const said = (pattern: RegExp): string => pattern.exec(dockerfile)?.[1] ?? ''
    assert.equal(image, `daybook:${said(/image\.version="(.+)"/)}`)
    assert.equal(user, said(/^USER (.+)$/m))
    assert.deepEqual(healthcheck?.test, ['CMD', ...JSON.parse(said(/^HEALTHCHECK .* CMD (.+)$/m))])
    assert.ok(volumes.map((volume) => volume.split(':')[1]).includes(said(/^VOLUME (.+)$/m)))
  })

  test('shows the containers only files of the project, which they cannot change, and the backups', () => {
    for (const [name, one] of parts) {
      for (const [from, , mode] of bindsOf(one)) {
        const isOwn = from.startsWith('ops/') && existsSync(join(ROOT, from))
        assert.ok(isOwn || from.startsWith('secrets/') || from === 'backups', `${name}: ${from}`)
        assert.ok(mode === 'ro' || from === 'backups', `${name}: ${from}`)
      }
    }
  })

  test('gives nginx its example, with the name of the site and the address of the service', async () => {
    const nginx = part('nginx')
    const [from = ''] = bindsOf(nginx).find(([, to]) => to === '/files') ?? []
    const script = scriptOf(nginx)
      .replaceAll('/files', join(ROOT, from))
      .replaceAll('/etc/nginx/conf.d', folder)
      .replace(/exec nginx.*/, 'true')
    await run('sh', ['-c', script], { env: { ...process.env, DAYBOOK_SITE: SITE } })
    const expected = textOf('ops/nginx/daybook.conf')
      .replaceAll('data.example.org', SITE)
      .replace('127.0.0.1:8080', `${variable('DAYBOOK_HOST')}:8080`)
    assert.equal(readFileSync(join(folder, 'daybook.conf'), 'utf8'), expected)
    const seen = bindsOf(nginx).map(([, to]) => to)
    for (const [, file = ''] of expected.matchAll(/ssl_certificate(?:_key)? (\S+);/g))
      assert.ok(seen.includes(file), file)
  })

  test('gives Prometheus its rules, with the address of the private listener', async () => {
    const script = scriptOf(part('prometheus'))
      .replaceAll('/files', join(ROOT, 'ops', 'prometheus'))
      .replaceAll('/etc/prometheus', folder)
      .replace(/exec prometheus.*/, 'true')
    await run('sh', ['-c', script])
    const config = join(folder, 'prometheus.yml')
    await run('promtool', ['check', 'config', config])
    const targets = [...readFileSync(config, 'utf8').matchAll(/^ *- targets: \[(.*)\]/gm)]
    assert.deepEqual(
      targets.map(([, target]) => target),
      [`${variable('DAYBOOK_PUBLISH_HOST')}:8081`],
    )
  })

  test('gives Grafana the dashboard, and Prometheus in a network of both', () => {
    const grafana = part('grafana')
    const provisioned = (path: string): string => textOf(`ops/grafana/provisioning/${path}/daybook.yaml`)
    const [, host = ''] = /url: http:\/\/(\w+):9090/.exec(provisioned('datasources')) ?? []
    const shared = Object.keys(part(host).networks).filter((name) => name in grafana.networks)
    assert.deepEqual(shared, ['monitor'])
    const [, path = ''] = /path: (\S+)/.exec(provisioned('dashboards')) ?? []
    const seen = new Map(bindsOf(grafana).map(([from, to]) => [to, from]))
    assert.equal(seen.get(`${path}/daybook.json`), 'ops/grafana/daybook.json')
    assert.equal(seen.get('/etc/grafana/provisioning'), 'ops/grafana/provisioning')
  })

  test(
    'has secrets in files that the steps of docs/container.md make, each private to its user',
    {
      skip: skipUnless(process.getuid?.() === 0, 'root'),
    },
    async () => {
      const [block] = blocksOf(textOf('docs/container.md').replaceAll(/^ {3}/gm, '')).filter(
        ({ before: line }) => line === '<!-- run: secrets -->',
      )
      const command = `'${process.execPath}' '${MAIN}'`
      const script = (block?.text ?? '')
        .replaceAll(/docker run[^\n]*daybook:\d+\.\d+\.\d+ \\\n/g, `${command} `)
        .replaceAll(' /secrets/', ' secrets/')
      const at = join(folder, 'steps')
      mkdirSync(at)
      for (const name of ['site.pem', 'site.key']) writeFileSync(join(at, name), name)
      const { stdout } = await run('bash', ['-euc', script], { cwd: at })
      assert.match(stdout, /^data\.example\.org\/book\+/)
      const files = parts.flatMap(([name, one]) => [
        ...(one.secrets ?? []).map(({ source }) => [
          name,
          whole.secrets[source]?.file.slice(ROOT.length + 1) ?? '',
        ]),
        ...bindsOf(one).flatMap(([from]) => (from.startsWith('secrets/') ? [[name, from]] : [])),
      ])
      assert.equal(files.length, 5)
      for (const [name = '', file = ''] of files) {
        const { uid, mode } = statSync(join(at, file))
        assert.deepEqual([uid, mode & 0o777], [Number(part(name).user.split(':')[0]), 0o400], file)
      }
      assert.equal(statSync(join(at, 'backups')).uid, Number(part('daybook').user.split(':')[0]))
      const token = readFileSync(join(at, 'secrets', 'publish-token'), 'utf8').trim()
      assert.ok(token.length >= 32)
    },
  )
})
