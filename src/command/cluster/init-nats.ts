import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from '../../engine/log-engine.ts'
import { connectNats, openNats } from '../../engine/nats/nats-connection.ts'
import type { NatsUser } from '../../engine/nats/nats-setup.ts'
import { accountsConfig, makeNatsUser, makeStream, natsUserOf } from '../../engine/nats/nats-setup.ts'
import type { NatsTarget } from '../../engine/nats/nats-target.ts'
import { parseNatsUrl } from '../../engine/nats/nats-target.ts'
import { asPathError, makeFolder, readPem, readStart, systemReason } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'

const SECRET_MODE = 0o600
const OTHERS = 0o077
const SECRET_BYTES_MAX = 4_096
const CERTIFICATE_BYTES_MAX = 256 * 1024

/** Files of the folder: the seeds of both users, and the configuration for the brokers. */
const FILES = {
  administrator: 'administrator.seed',
  running: 'running.seed',
  accounts: 'accounts.conf',
} as const

/** Folder of the users' files, and number of the stream. */
type NatsSetup = Readonly<{ folder: string; stream: number }>

/**
 * Command `daybook cluster init nats://…`. The first run makes both users and prints the configuration that lets them
 * in. Once the brokers have it, the next run makes the stream and checks everything as a writer does.
 */
export async function initNats(address: string, setup: NatsSetup, world: World): Promise<ExitCode> {
  const target = targetOf(address)
  try {
    const { users, secret, isNew } = usersIn(setup.folder, world)
    if (isNew) return 0
    const faults = await makeAndCheck(target, users, setup.stream, world)
    for (const fault of faults) tell(world, fault)
    if (faults.length > 0) {
      tell(world, 'correct this, and run this command again: no writer publishes before')
      return 1
    }
    tell(world, 'the brokers are as a log needs them: start each writer with')
    world.stdout.write(`--log-store ${shellQuoted(address)} --log-store-credentials ${shellQuoted(secret)}\n`)
    return 0
  } catch (error) {
    if (error instanceof EngineError) throw new CommandError(1, error.message, { cause: error })
    throw error
  }
}

function targetOf(address: string): NatsTarget {
  try {
    return parseNatsUrl(address, readCertificate)
  } catch (error) {
    if (error instanceof EngineError) throw new CommandError(2, error.message, { cause: error })
    throw error
  }
}

type Users = Readonly<{ administrator: NatsUser; running: NatsUser }>

/** The users in the folder. Those that are missing are made, and the configuration that lets them in is printed. */
function usersIn(folder: string, world: World): Readonly<{ users: Users; secret: string; isNew: boolean }> {
  makeFolder(folder, '--to', 0o700)
  const [administrator, running, accounts] = [
    join(folder, FILES.administrator),
    join(folder, FILES.running),
    join(folder, FILES.accounts),
  ]
  const isNew = !existsSync(administrator) || !existsSync(running)
  const users = { administrator: userIn(administrator, world), running: userIn(running, world) }
  const text = accountsConfig(users.administrator.publicKey, users.running.publicKey)
  writeNew(accounts, text, { flag: 'w' })
  if (isNew) {
    world.stdout.write(text)
    tell(world, `${accounts} lets both users in: include it in the configuration of every broker`)
    tell(world, `${administrator} is the secret of the administrator: keep it away from the nodes`)
    tell(world, `${running} is the secret of the writers: each reads it with --log-store-credentials`)
    tell(world, 'start the brokers with it, and run this command again: then it makes the stream')
  }
  return { users, secret: running, isNew }
}

/** Makes the stream as the administrator. Returns the faults that a writer would find. */
async function makeAndCheck(
  target: NatsTarget,
  users: Users,
  stream: number,
  world: World,
): Promise<readonly string[]> {
  const nats = await connectNats(target, users.administrator.seed, world.monotonicMs)
  try {
    const made = await makeStream(nats, stream)
    tell(world, made === 'made' ? 'the stream is made' : 'the stream is there already, without a message')
  } finally {
    await nats.close()
  }
  await using connection = await openNats({
    target,
    credentials: users.running.seed,
    stream,
    nowMs: world.now,
    monotonicMs: world.monotonicMs,
  })
  return await connection.inspect()
}

/** The user whose seed is in a file, which is made if it is missing. No other user of the machine may read it. */
function userIn(path: string, world: World): NatsUser {
  if (!existsSync(path)) {
    const user = makeNatsUser()
    writeNew(path, `${user.seed}\n`, { flag: 'wx', mode: SECRET_MODE })
    return user
  }
  try {
    if ((statSync(path).mode & OTHERS) !== 0 && world.hasFileModes) {
      throw new CommandError(2, `${path} may be read by other users: make it private with chmod 600`)
    }
    return natsUserOf(readStart(path, SECRET_BYTES_MAX))
  } catch (cause) {
    if (cause instanceof CommandError) throw cause
    throw new CommandError(2, `--to: ${path} does not hold the seed of a user`, { cause })
  }
}

function writeNew(path: string, text: string, how: Readonly<{ flag: string; mode?: number }>): void {
  try {
    writeFileSync(path, text, { ...how, flush: true })
  } catch (error) {
    throw asPathError(error, '--to')
  }
}

function readCertificate(path: string): string {
  try {
    return readPem(path, CERTIFICATE_BYTES_MAX)
  } catch (cause) {
    throw new CommandError(
      2,
      `the certificate file ${shellQuoted(path)} cannot be read: ${systemReason(cause)}`,
      {
        cause,
      },
    )
  }
}
