/** Which file systems a store may lie on: WAL needs memory shared between processes, and flushes that hold. */
import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync, statfsSync } from "node:fs";

/** What the platform says of the file system under a folder. */
export interface FileSystemFacts {
  /** The number of `statfs`. */
  type: number;
  /** The name in the list of mounts, "" where it could not be found. */
  name: string;
}

/** Numbers of `statfs(2)` that are network file systems whatever their name. */
const NETWORK_TYPES = new Map<number, string>([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB"],
  [0xff534d42, "CIFS"],
  [0x564c, "NCP"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x7461636f, "OCFS2"],
  [0x01161970, "GFS2"],
  [0xaad7aaea, "PanFS"],
  [0x786f4256, "VirtualBox shared folder"],
  [0xbacbacbc, "VMware shared folder"],
]);

const FUSE = 0x65735546;

/** Names in the list of mounts, for FUSE and for platforms whose numbers mean nothing. */
const NETWORK_NAMES =
  /^(?:nfs\d?|smbfs|cifs|smb\d?|afpfs|webdav|davfs2?|9p|ceph|glusterfs|lustre|beegfs|sshfs|fuse\.(?:sshfs|rclone|s3fs|gcsfuse|goofys|mountpoint-s3|blobfuse2?|glusterfs|ceph(?:-fuse)?|davfs2?|curlftpfs|smbnetfs|juicefs|moosefs|mfs|hdfs|nfs|osxfs|grpcfuse|vmhgfs-fuse))$/;

/** The network file system that a folder lies on, or null for a local one. */
export function networkFileSystem(folder: string, facts: FileSystemFacts = factsOf(folder)): string | null {
  // Only Linux gives these numbers their meaning; `type` may come signed from a 32-bit field.
  const byType = NETWORK_TYPES.get(facts.type >>> 0);
  if (byType !== undefined && (process.platform === "linux" || facts.name === "")) return byType;
  return NETWORK_NAMES.test(facts.name) ? facts.name : null;
}

function factsOf(folder: string): FileSystemFacts {
  const type = statfsSync(folder).type >>> 0;
  if (process.platform === "linux") return { type, name: type === FUSE ? linuxMountName(folder) : "" };
  return { type: 0, name: darwinMountName(folder) };
}

function linuxMountName(folder: string): string {
  try {
    const real = realpathSync(folder);
    let best = { at: "", name: "" };
    for (const line of readFileSync("/proc/self/mountinfo", "utf8").split("\n")) {
      const [left, right] = line.split(" - ");
      const at = unescapeMount(left?.split(" ")[4] ?? "");
      if (at === "" || at.length < best.at.length || !isBelow(real, at)) continue;
      best = { at, name: right?.split(" ")[0] ?? "" };
    }
    return best.name;
  } catch {
    return "";
  }
}

function darwinMountName(folder: string): string {
  try {
    const real = realpathSync(folder);
    let best = { at: "", name: "" };
    for (const line of execFileSync("mount", { encoding: "utf8", timeout: 5_000 }).split("\n")) {
      const [, at = "", name = ""] = / on (.+) \((\w+)[,)]/.exec(line) ?? [];
      if (at === "" || at.length < best.at.length || !isBelow(real, at)) continue;
      best = { at, name };
    }
    return best.name;
  } catch {
    return "";
  }
}

function isBelow(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

function unescapeMount(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
