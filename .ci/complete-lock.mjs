// Completes package-lock.json with the optional packages of other platforms that the registry in use did not
// serve: `npm ci` refuses a lock that lacks them, even where none of them would be installed.
import { readFileSync, writeFileSync } from 'node:fs'

const path = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(path, 'utf8'))
const SYSTEMS = {
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  netbsd: 'netbsd',
  linux: 'linux',
  openharmony: 'openharmony',
  sunos: 'sunos',
  aix: 'aix',
  win32: 'win32',
  windows: 'win32',
  openbsd: 'openbsd',
}
const PROCESSORS = {
  arm: 'arm',
  armv7: 'arm',
  arm64: 'arm64',
  x64: 'x64',
  ia32: 'ia32',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  loong64: 'loong64',
  mips64el: 'mips64el',
}

for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`
    if (lock.packages[key] !== undefined) continue
    const words = name.split(/[/-]/)
    const os = words.map((word) => SYSTEMS[word]).find(Boolean)
    const cpu = words.map((word) => PROCESSORS[word]).find(Boolean)
    if (os === undefined || cpu === undefined) throw new Error(`${name} names no platform that is known`)
    const libc = name.includes('musl')
      ? ['musl']
      : name.endsWith('gnu') || name.includes('gnueabi')
        ? ['glibc']
        : undefined
    lock.packages[key] = {
      version,
      cpu: [cpu],
      ...(parent.dev && { dev: true }),
      ...(libc && { libc }),
      optional: true,
      os: [os],
    }
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
