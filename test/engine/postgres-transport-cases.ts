import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { parseDatabaseUrl } from '../../src/command/terminal/database-url.ts'
import { EngineError } from '../../src/engine/log-engine.ts'
import { connectDatabase, DatabaseError } from '../../src/engine/postgres/database-connection.ts'
import type { PostgresServer } from '../outbox/postgres-server.ts'
import { startPostgresServer } from '../outbox/postgres-server.ts'
import { freePort } from '../processes/free-ports.ts'
import { until } from '../processes/other-program.ts'
import { textOf } from '../stage/document.ts'
import { skipWithout } from '../stage/test-needs.ts'
import type { PostgresRig } from './postgres-rig.ts'
import { portOf } from './postgres-rig.ts'

/** Time in which two databases must answer together once. */
const TOLD_APART_MS_MAX = 60_000
/** Connections that are closed while they send. */
const CLOSED_WHILE_SENDING = 20
/** An address of this machine that others reach; null without a network. */
const [network = null] = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .flatMap((one) => (one.internal || one.family !== 'IPv4' ? [] : [one.address]))
/** An address that counts as another machine, and the one that its server sees. */
const [address, source] = network === null ? ['0.0.0.0', '127.0.0.1'] : [network, network]

/** Tests of one database that is no cluster, and that is reached over the network. */
export function testPostgresTransport(openRig: () => Promise<PostgresRig>, skip: string | false): void {
  const isSkipped = skip || skipWithout('openssl')
  suite('a single database on another machine', { skip: isSkipped, timeout: 200_000 }, () => {
    test('is accepted only when that is wanted, with TLS, a certificate and a password', async () => {
      const rig = await openRig()
      const folder = join(rig.folder, 'single')
      mkdirSync(folder)
      const port = await freePort()
      const settings = ['listen_addresses=*', 'fsync=on']
      await using server = await startPostgresServer(folder, { port, settings })
      const certificate = await secure(server, folder)
      await rig.sql(
        server,
        "CREATE ROLE daybook LOGIN PASSWORD 'pass'; GRANT pg_read_all_stats TO daybook",
        'REVOKE ALL ON DATABASE postgres FROM PUBLIC; GRANT CONNECT ON DATABASE postgres TO daybook',
        'CREATE TABLE public.daybook_commits_1 (n bigint CONSTRAINT daybook_commits_1_pkey PRIMARY KEY, body bytea NOT NULL)',
        'GRANT SELECT, INSERT ON public.daybook_commits_1 TO daybook',
      )
      const root = `sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`
      const connect = (query: string, isSingle = true, servers = `daybook:pass@${address}:${port}`) =>
        rig.connect({ stream: 1, isSingle, url: `postgres://${servers}/postgres${query}` })

      await allow(server, 'scram-sha-256')
      {
        await using engine = connect(`?${root}`)
        assert.deepEqual(await engine.inspect(), [])
        assert.equal(await engine.log.append(1, new Uint8Array(1)), 'appended')
        assert.equal(await engine.log.last(), 1)
      }
      await using doubled = connect(`?${root}`, false)
      assert.match((await doubled.inspect()).join(), /^synchronous_standby_names is empty/)
      await using plain = connect('?sslmode=disable')
      await using unknown = connect('')
      const refused = (message: RegExp): object => ({ name: EngineError.name, message })
      const [appended] = await Promise.all([
        doubled.log.append(2, new Uint8Array(1)),
        assert.rejects(plain.log.last(), refused(/TLS is required for another machine/)),
        assert.rejects(unknown.log.last(), refused(/self-signed certificate/)),
      ])
      assert.equal(appended, 'unknown')

      // On a busy machine a server may answer too late after the other to be compared with it.
      const mixed = `tester@127.0.0.1:${portOf(rig.primary())},127.0.0.1:${port}`
      await until(
        'two databases are told apart',
        async () => {
          await using engine = connect('?sslmode=disable', true, mixed)
          return await engine.log.last().then(
            () => false,
            (error: Error) => /system identifier is another one/.test(error.message),
          )
        },
        TOLD_APART_MS_MAX,
      )

      await allow(server, 'trust')
      await using open = connect(`?${root}`)
      assert.match((await open.inspect()).join(), /^the server asks for no password and no certificate/)

      // The servers of the rig have no TLS.
      const without = (mode: string): ReturnType<typeof connectDatabase> => {
        const servers = `tester@127.0.0.1:${portOf(rig.primary())}`
        const plainTarget = parseDatabaseUrl(`postgres://${servers}/postgres?sslmode=${mode}`, null)
        return connectDatabase(plainTarget, AbortSignal.timeout(60_000))
      }
      await using preferred = await without('prefer')
      assert.deepEqual([...(await preferred.ask('SELECT 1 AS one'))], [{ one: 1 }])
      await assert.rejects(without('require'), { message: 'the server has no TLS', passes: true })

      // A connection that is closed while it sends. An error of what it did not send would end this process.
      const url = `postgres://daybook:pass@${address}:${port}/postgres?${root}`
      const target = parseDatabaseUrl(url, null)
      for (let round = 0; round < CLOSED_WHILE_SENDING; round += 1) {
        const connection = await connectDatabase(target, AbortSignal.timeout(60_000))
        const asked = [
          connection.ask('SELECT pg_sleep($1::float)', [0.01]),
          connection.ask(`SELECT length('${'x'.repeat(300_000)}')`),
        ].map((answer) => answer.catch((error: unknown) => assert.ok(error instanceof DatabaseError)))
        await setTimeout(round % 5)
        await connection[Symbol.asyncDispose]()
        await Promise.all(asked)
      }
    })
  })
}

/** Turns TLS on, and returns the certificate. */
async function secure(server: PostgresServer, folder: string): Promise<string> {
  const [certificate, key] = [join(folder, 'server.crt'), join(folder, 'server.key')]
  const made = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    key,
    '-out',
    certificate,
  ]
  const subject = ['-subj', '/CN=daybook', '-addext', `subjectAltName=IP:${address}`]
  assert.equal(spawnSync('openssl', ['req', '-x509', ...subject, ...made]).status, 0)
  chmodSync(key, 0o600)
  const { uid, gid } = statSync(join(server.host, 'data'))
  chownSync(key, uid, gid)
  for (const statement of [
    `ALTER SYSTEM SET ssl_cert_file = '${certificate}'`,
    `ALTER SYSTEM SET ssl_key_file = '${key}'`,
    'ALTER SYSTEM SET ssl = on',
  ]) {
    server.run('psql', [server.url(), '-q', '-v', 'ON_ERROR_STOP=1'], statement)
  }
  return certificate
}

/** Lets the role of a node in over the network, as ops/postgres/pg_hba.conf does, with a method. */
async function allow(server: PostgresServer, method: string): Promise<void> {
  const example = textOf('ops/postgres/pg_hba.conf')
    .replace(/^(hostssl +)daybook /m, '$1postgres ')
    .replaceAll('10.0.0.0/24', `${source}/32`)
    .replaceAll('scram-sha-256', method)
  assert.ok(example.includes(`${source}/32   ${method}`), 'the example has the line')
  const lines = `local all all trust\nhost all tester 127.0.0.1/32 trust\n${example}`
  writeFileSync(join(server.host, 'data', 'pg_hba.conf'), lines)
  server.run('psql', [server.url(), '-q'], 'SELECT pg_reload_conf()')
  // The server reads its files a moment later: a new session sees them.
  await setTimeout(200)
}
