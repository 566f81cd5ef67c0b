import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../processes/free-ports.ts'
import { textOf } from '../stage/document.ts'
import { pathOf } from '../processes/test-needs.ts'

const START_MS_MAX = 60_000
const POLL_MS = 20

const run = promisify(execFile)

/** A proxy with its configuration below `ops`. Disposal stops it and removes its files. */
export type Proxy = AsyncDisposable &
  Readonly<{
    url: string
    /** File with the certificate of the proxy. */
    pem: string
    /** Folder with the files of the proxy. */
    folder: string
  }>

/** A folder with a certificate for 127.0.0.1, and a free port. */
type Site = Readonly<{ folder: string; port: number; url: string; pem: string; key: string }>

async function openSite(name: string): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), `daybook-${name}-`))
  const [pem, key] = [join(folder, 'site.pem'), join(folder, 'site.key')]
  const name4 = ['-subj', '/CN=x', '-addext', 'subjectAltName=IP:127.0.0.1']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await run('openssl', ['req', '-x509', ...curve, ...name4, '-out', pem, '-keyout', key])
  const port = await freePort()
  return { folder, port, url: `https://127.0.0.1:${port}`, pem, key }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Replaces each text once. Throws when one is not there, so that no example is tested unchanged by mistake. */
function replaced(text: string, pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs).reduce((whole, [from, to]) => {
    if (!whole.includes(from)) throw new Error(`the example has no ${from}`)
    return whole.replace(from, to)
  }, text)
}

function hostsOf(services: readonly string[]): readonly string[] {
  return services.map((service) => new URL(service).host)
}

/** Waits until a started proxy listens. */
async function opened(child: ChildProcess, { folder, port, url, pem }: Site): Promise<Proxy> {
  const late = Date.now() + START_MS_MAX
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > late) throw new Error(`no proxy listens on ${url}`)
    await setTimeout(POLL_MS)
  }
  return {
    url,
    pem,
    folder,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'close')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Checks `ops/nginx/daybook.conf` with `nginx -t`, and starts nginx with it in front of one or more services. `changes`
 * replace parts of the example.
 */
export async function startNginx(
  services: readonly string[],
  changes: Readonly<Record<string, string>> = {},
): Promise<Proxy> {
  const site = await openSite('nginx')
  const { folder, port, pem, key } = site
  const config = replaced(textOf('ops/nginx/daybook.conf'), {
    '/var/cache/nginx/daybook': join(folder, 'cache'),
    'server 127.0.0.1:8080;': hostsOf(services)
      .map((host) => `server ${host};`)
      .join(' '),
    'listen 80': `listen unix:${join(folder, 'http')}`,
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    '/etc/ssl/data.example.org.pem': pem,
    '/etc/ssl/data.example.org.key': key,
    ...changes,
  })
  return runNginx(site, config)
}

async function runNginx(site: Site, config: string): Promise<Proxy> {
  const { folder } = site
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const paths = temporary.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const whole = `${user} daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {}
http { access_log off; ${paths}\n${config}\n}`
  await writeFile(join(folder, 'nginx.conf'), whole)
  const words = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
  const nginx = pathOf('nginx') ?? ''
  await run(nginx, ['-t', ...words])
  return opened(spawn(nginx, words, { stdio: 'ignore' }), site)
}

/**
 * Checks `ops/caddy/Caddyfile` with `caddy validate`, and starts Caddy with it in front of one or more services. `changes`
 * replace parts of the example.
 */
export async function startCaddy(
  services: readonly string[],
  changes: Readonly<Record<string, string>> = {},
): Promise<Proxy> {
  const site = await openSite('caddy')
  const { folder, url, pem, key } = site
  // Caddy keeps its state below these folders, also while it validates.
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const told = textOf('ops/caddy/Caddyfile')
  const config = replaced(told, {
    'data.example.org {': `${url} {\n\ttls ${pem} ${key}`,
    '127.0.0.1:8080': hostsOf(services).join(' '),
    ...changes,
  })
  const example = join(folder, 'example')
  const file = join(folder, 'Caddyfile')
  await writeFile(example, told)
  await writeFile(
    file,
    `{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_sni 127.0.0.1\n}\n${config}`,
  )
  for (const words of [['validate'], ['adapt', '--validate']])
    await run('caddy', [...words, '--adapter', 'caddyfile', '--config', example], { env })
  const words = ['run', '--adapter', 'caddyfile', '--config', file]
  return opened(spawn('caddy', words, { stdio: 'ignore', env }), site)
}
