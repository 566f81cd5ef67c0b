import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { blocksOf, textOf } from '../stage/document.ts'
import { pathOf } from '../stage/test-needs.ts'

const run = promisify(execFile)

/** nginx with the configuration of docs/operating.md. Disposal stops it and removes its files. */
type Nginx = AsyncDisposable & Readonly<{ url: string }>

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return address !== null && typeof address === 'object' ? address.port : 0
}

/** Starts nginx in front of a service, and waits until it answers. */
export async function startNginx(service: string): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-nginx-'))
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  const [pem, key] = [join(folder, 'a.pem'), join(folder, 'a.key')]
  const made = ['-x509', '-newkey', 'ed25519', '-nodes', '-subj', '/CN=x', '-out', pem, '-keyout', key]
  await run('openssl', ['req', ...made])
  const blocks = blocksOf(textOf('docs/operating.md'))
  const told = blocks.find(({ language }) => language === 'nginx')?.text ?? ''
  const site = told
    .replace('/var/cache/nginx/daybook', join(folder, 'cache'))
    .replace('127.0.0.1:8080', new URL(service).host)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/data.example.org.pem', pem)
    .replace('/etc/ssl/data.example.org.key', key)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const paths = temporary.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const whole = `${user} daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {}
http { access_log off; ${paths}\n${site}\n}`
  await writeFile(join(folder, 'nginx.conf'), whole)
  const words = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
  const child = spawn(pathOf('nginx') ?? '', words, { stdio: 'ignore' })
  // Retries until nginx listens.
  await run('curl', ['-sk', '--retry', '50', '--retry-connrefused', '--retry-delay', '1', `${url}/livez`])
  return {
    url,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'close')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
