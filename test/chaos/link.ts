import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The network between one machine and the server. */
export interface Link {
  readonly url: string
  /** Breaks every connection, and each new one at once, until it is mended. */
  cut(): void
  mend(): void
  close(): void
}

/** @param server where it is now; after a start it may be elsewhere, for a free port is soon another's */
export const openLink = async (server: () => URL): Promise<Link> => {
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const relay = createServer((near) => {
    keep(near)
    if (isCut) return near.destroy()
    const { port, hostname } = server()
    const far = connect(Number(port), hostname)
    keep(far)
    near.pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true
      breakAll()
    },
    mend: () => {
      isCut = false
    },
    close: () => {
      relay.close()
      breakAll()
    },
  }
}
