import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { connectDatabase } from '../../src/command/database/database-connection.ts'
import { parseDatabaseUrl } from '../../src/command/database/database-url.ts'
import { freePort } from '../processes/free-ports.ts'
import { skipUnless, skipWithout } from '../processes/test-needs.ts'
import { hasPostgres, type PostgresServer, startPostgresServer } from '../database/postgres-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-database-'))
after(() => rmSync(folder, { recursive: true, force: true }))

suite('the address of a database', () => {
  const cases: readonly (readonly [url: string, expected: object])[] = [
    [
      'postgres://daybook@db.example.org/platform',
      {
        hosts: [{ host: 'db.example.org', port: 5_432 }],
        user: 'daybook',
        password: null,
        database: 'platform',
        tls: 'prefer',
        shown: 'db.example.org:5432/platform',
      },
    ],
    [
      'postgresql://u%40x:p%2Fw@[::1]:6543,b/d?sslmode=disable&connect_timeout=3',
      {
        hosts: [
          { host: '::1', port: 6_543 },
          { host: 'b', port: 5_432 },
        ],
        user: 'u@x',
        password: 'p/w',
        tls: false,
        connectSeconds: 3,
        shown: '[::1]:6543,b:5432/d',
      },
    ],
    [
      'postgres:///d?host=/run/postgresql&user=u&password=secret',
      { hosts: [{ host: '/run/postgresql', port: 5_432 }], user: 'u', password: 'secret', tls: false },
    ],
    ['postgres://%2Frun%2Fpostgresql/d', { hosts: [{ host: '/run/postgresql', port: 5_432 }], tls: false }],
    ['postgres://h/d?sslmode=require', { tls: { rejectUnauthorized: false } }],
    ['postgres://h/d?sslmode=verify-full', { tls: { rejectUnauthorized: true } }],
    ['postgres://h/d?sslrootcert=system', { tls: { rejectUnauthorized: true } }],
    ['postgres://h/d?target_session_attrs=read-write&channel_binding=prefer', { database: 'd' }],
    ['postgres:///', { hosts: [], user: null, database: null, shown: 'the default server/' }],
  ]
  for (const [url, expected] of cases) {
    test(`is read as libpq reads it: ${url}`, () => {
      const target = parseDatabaseUrl(url, null)
      assert.deepEqual({ ...target }, { ...target, ...expected })
    })
  }

  test('takes the password from a file, which wins', () => {
    const file = join(folder, 'password')
    writeFileSync(file, 'of the file\n')
    assert.equal(parseDatabaseUrl('postgres://u:p@h/d', file).password, 'of the file')
  })

  for (const url of [
    'http://h/d',
    'postgres://a:b@c@d/e',
    'postgres://h:port/d',
    'postgres://h/d?sslmode=perhaps',
    'postgres://h/d?sslrootcert=/no/such/file',
    'postgres://h/d?channel_binding=require',
    'postgres://h/d?target_session_attrs=standby',
    'postgres://h/%',
  ]) {
    test(`is refused, and not repeated: ${url}`, () => {
      assert.throws(
        () => parseDatabaseUrl(url, null),
        ({ exitCode, message }: { exitCode?: number; message: string }) =>
          exitCode === 2 && !message.includes(url),
      )
    })
  }
})

const needs = { skip: skipUnless(hasPostgres, 'postgresql') || skipWithout('openssl') }

suite('a connection to a server with TLS and passwords', needs, () => {
  let server: PostgresServer
  let port = 0
  const [certificate, other] = [join(folder, 'server.crt'), join(folder, 'other.crt')]
  before(async () => {
    port = await freePort()
    server = await startPostgresServer(folder, { port })
    const data = join(server.host, 'data')
    const key = join(folder, 'server.key')
    for (const [crt, pem] of [
      [certificate, key],
      [other, join(folder, 'other.key')],
    ] as const) {
      const made = [
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-keyout',
        pem,
        '-out',
        crt,
      ]
      const words = [
        'req',
        '-x509',
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
        ...made,
      ]
      assert.equal(spawnSync('openssl', [...words, '-days', '3650']).status, 0)
    }
    chmodSync(key, 0o600)
    const { uid, gid } = statSync(data)
    chownSync(key, uid, gid)
    writeFileSync(
      join(data, 'pg_hba.conf'),
      'local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n',
    )
    server.run(
      'psql',
      [server.url(), '-q', '-v', 'ON_ERROR_STOP=1'],
      `CREATE ROLE daybook LOGIN PASSWORD 'pass word';
       ALTER SYSTEM SET ssl_cert_file = '${certificate}'; ALTER SYSTEM SET ssl_key_file = '${key}';
       ALTER SYSTEM SET ssl = on;`,
    )
    await server.end('SIGINT')
    await server.start()
  })
  after(() => server?.[Symbol.asyncDispose]())

  async function connect(host: string, query: string, password = 'pass%20word'): Promise<string> {
    const target = parseDatabaseUrl(`postgres://daybook:${password}@${host}:${port}/postgres${query}`, null)
    try {
      await using connection = await connectDatabase(target, AbortSignal.timeout(60_000))
      const [row] = await connection.ask('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
      return row?.['ssl'] === true ? 'encrypted' : 'plain'
    } catch (error) {
      const { message, passes } = error as { message: string; passes: boolean }
      return `${passes ? 'passes' : 'refused'}: ${message}`
    }
  }
  const root = `sslrootcert=${encodeURIComponent(certificate)}`

  test('is encrypted when the server can, and checked as sslmode says', async () => {
    assert.equal(await connect('127.0.0.1', ''), 'encrypted')
    assert.equal(await connect('127.0.0.1', '?sslmode=require'), 'encrypted')
    assert.equal(await connect('127.0.0.1', `?sslmode=verify-ca&${root}`), 'encrypted')
    assert.equal(await connect('localhost', `?sslmode=verify-full&${root}`), 'encrypted')
  })

  test('is refused, and not tried again, when the certificate or the password is wrong', async () => {
    assert.match(await connect('127.0.0.1', `?sslmode=verify-full&${root}`), /^refused: .*(?:altnames|IP)/)
    assert.match(await connect('localhost', '?sslmode=verify-full'), /^refused: self-signed certificate/)
    const wrong = `sslrootcert=${encodeURIComponent(other)}`
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      assert.match(await connect('localhost', `?sslmode=${mode}&${wrong}`), /^refused: /, mode)
    }
    assert.match(await connect('127.0.0.1', '?sslmode=disable'), /^refused: no pg_hba\.conf entry/)
    assert.match(await connect('127.0.0.1', '', 'another'), /^refused: password authentication failed/)
  })

  test('is tried again when nothing listens, and goes to the next server of the address', async () => {
    const target = parseDatabaseUrl(
      `postgres://daybook:pass%20word@127.0.0.1:1,127.0.0.1:${port}/postgres`,
      null,
    )
    await using connection = await connectDatabase(target, AbortSignal.timeout(60_000))
    assert.deepEqual([...(await connection.ask('SELECT 1 AS one'))], [{ one: 1 }])
    const nobody = parseDatabaseUrl('postgres://daybook@127.0.0.1:1/postgres', null)
    await assert.rejects(connectDatabase(nobody, AbortSignal.timeout(60_000)), { passes: true })
  })
})
