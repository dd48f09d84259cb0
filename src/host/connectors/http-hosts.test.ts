import { describe, expect, test } from "vitest";
import { HostList, isPublicAddress, readHostGrant, readTarget } from "./http-hosts.ts";

describe("a grant", () => {
  test.each([
    ["api.example.org", { host: "api.example.org", port: null }],
    ["API.Example.org.", { host: "api.example.org", port: null }],
    ["localhost:8080", { host: "localhost", port: "8080" }],
    ["bücher.example", { host: "xn--bcher-kva.example", port: null }],
    ["[::1]:80", { host: "[::1]", port: "80" }],
  ])("%s", (text, grant) => {
    expect(readHostGrant(text)).toEqual(grant);
  });

  test.each([
    "",
    "*.example.org",
    "*",
    "https://example.org",
    "example.org/path",
    "user@example.org",
    "example.org:0",
    "example.org:99999",
    "a b",
    "a\\b",
    "[::ffff:127.0.0.1]",
    "example.org#x",
    "example.org?x",
  ])("SB-61: %s is none", (text) => {
    expect(readHostGrant(text)).toBeNull();
  });
});

describe("which URLs hosts let through", () => {
  const hosts = new HostList(["api.example.org", "127.0.0.1:8080", "localhost"], ["intranet.example"]);
  test.each([
    ["https://api.example.org/x", "public"],
    ["http://API.EXAMPLE.ORG./x", "public"],
    ["https://api.example.org:443/", "public"],
    ["http://127.0.0.1:8080/", "anywhere"],
    // The same address in another spelling is the same address.
    ["http://0x7f.1:8080/", "anywhere"],
    ["http://localhost/", "anywhere"],
    ["http://intranet.example/", "anywhere"],
  ])("%s", (url, reach) => {
    expect(hosts.reachOf(new URL(url))).toBe(reach);
  });

  test.each([
    "https://api.example.org:8443/",
    "https://api.example.org.evil.example/",
    "https://evil.example/api.example.org",
    "https://sub.api.example.org/",
    "http://127.0.0.1/",
    "http://[::ffff:127.0.0.1]:8080/",
    "http://127.0.0.2:8080/",
  ])("%s is not declared", (url) => {
    expect(hosts.reachOf(new URL(url))).toBeNull();
  });
});

describe("a target", () => {
  test("keeps path and query, and drops the fragment", () => {
    const target = readTarget("https://api.example.org/a/b?c=d#e");
    expect("url" in target && target.url.href).toBe("https://api.example.org/a/b?c=d");
  });

  test.each([
    "//evil.example/x",
    "https:///evil.example",
    "file:///etc/passwd",
    "ftp://api.example.org/",
    "javascript:alert(1)",
    "https://user@api.example.org/",
    "https://user:pw@api.example.org/",
    "https://@api.example.org/",
    "https://api.example.org\\@evil.example/",
    "ht\ntps://api.example.org/",
    "https://api.example.org/ x",
    " https://api.example.org/",
    "https://api.example.org/\u0000",
    "/relative",
    "",
    `https://api.example.org/${"a".repeat(9_000)}`,
  ])("%j is none", (text) => {
    expect(readTarget(text)).toHaveProperty("problem");
  });
});

describe("SB-63: an address of the public internet", () => {
  test.each(["93.184.216.34", "8.8.8.8", "2606:4700::1111"])("%s is one", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "fe80::1%eth0",
    "fd00::1",
    "ff02::1",
    "2002:7f00:1::",
    "2001:db8::1",
    "no address",
  ])("%s is none", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
