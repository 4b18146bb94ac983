#include "envs/openenv/web_socket.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(WebSocket, TheAcceptedKeyIsThatOfTheStandard) {
  // RFC 6455, section 1.3.
  EXPECT_EQ(WebSocketAccept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

// A server in Python's standard library. It says its port, answers one connection, and does with
// each text what the text says.
constexpr char kServer[] = R"(
import base64, hashlib, socket, struct, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
peer, _ = listener.accept()
stream = peer.makefile("rwb")
head = {}
first = stream.readline().decode()
for line in iter(stream.readline, b"\r\n"):
    name, _, value = line.decode().partition(":")
    head[name.lower()] = value.strip()
if not first.startswith("GET /ws "):
    stream.write(b"HTTP/1.1 404 Not Found\r\n\r\n"); stream.flush(); sys.exit()
assert head["upgrade"] == "websocket" and head["sec-websocket-version"] == "13", head
digest = hashlib.sha1((head["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
stream.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n")
stream.flush()

def frame(opcode, payload, last=True):
    size = len(payload)
    head = bytes([(0x80 if last else 0) | opcode])
    head += bytes([size]) if size < 126 else bytes([126]) + struct.pack(">H", size) if size < 65536 \
        else bytes([127]) + struct.pack(">Q", size)
    stream.write(head + payload); stream.flush()

def read():
    opcode, size = stream.read(2)
    assert size & 0x80, "a client masks what it sends"
    size &= 127
    if size == 126: size, = struct.unpack(">H", stream.read(2))
    elif size == 127: size, = struct.unpack(">Q", stream.read(8))
    mask = stream.read(4)
    return opcode & 15, bytes(byte ^ mask[i % 4] for i, byte in enumerate(stream.read(size)))

while True:
    opcode, said = read()
    if opcode == 8: break
    if said == b"pieces": frame(1, b"one ", False); frame(9, b"still there?"); frame(0, b"two")
    elif said == b"bye": frame(8, struct.pack(">H", 1000) + b"enough")
    elif said == b"silence": pass
    elif opcode == 10: frame(1, b"pong: " + said)
    else: frame(1, said)
)";

class WebSocketTest : public ::testing::Test {
 protected:
  WebSocketTest()
      : server_(Subprocess::Start({"/usr/bin/python3", "-c", kServer}).value()),
        address_("ws://127.0.0.1:" + server_->ReadLine(seconds(60)).value()) {}

  std::unique_ptr<Subprocess> server_;
  const std::string address_;
};

TEST_F(WebSocketTest, TextsOfEverySizeComeBack) {
  auto socket = WebSocket::Connect(address_ + "/ws", seconds(60));
  ASSERT_TRUE(socket.ok()) << socket.error().message();
  for (const size_t size : {0u, 1u, 125u, 126u, 65535u, 65536u, 300000u}) {
    const std::string text(size, 'x');
    ASSERT_TRUE((*socket)->Send(text, seconds(60)).ok());
    const Result<std::string> back = (*socket)->Receive(seconds(60));
    ASSERT_TRUE(back.ok()) << back.error().message();
    EXPECT_TRUE(*back == text) << size;
  }
}

TEST_F(WebSocketTest, PiecesArePutTogetherAndPingsAnswered) {
  auto socket = WebSocket::Connect(address_ + "/ws", seconds(60)).value();
  ASSERT_TRUE(socket->Send("pieces", seconds(60)).ok());
  EXPECT_EQ(socket->Receive(seconds(60)).value(), "one two");
  EXPECT_EQ(socket->Receive(seconds(60)).value(), "pong: still there?");
}

TEST_F(WebSocketTest, SilenceIsADeadlineAndAGoodbyeSaysWhy) {
  auto socket = WebSocket::Connect(address_ + "/ws", seconds(60)).value();
  ASSERT_TRUE(socket->Send("silence", seconds(60)).ok());
  EXPECT_EQ(socket->Receive(milliseconds(30)).error().code(), ErrorCode::kDeadline);
  ASSERT_TRUE(socket->Send("bye", seconds(60)).ok());
  EXPECT_EQ(socket->Receive(seconds(60)).error().message(),
            "the server closed the connection: enough");
}

TEST_F(WebSocketTest, AServerThatDoesNotSpeakItSaysSo) {
  const auto socket = WebSocket::Connect(address_ + "/other", seconds(60));
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.error().message(),
            "the server does not speak WebSocket at /other: HTTP/1.1 404 Not Found");
}

TEST(WebSocket, AnAddressThatIsNoneIsAnError) {
  EXPECT_EQ(WebSocket::Connect("ftp://x/", seconds(1)).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(WebSocket::Connect("ws:///ws", seconds(1)).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(WebSocket::Connect("ws://127.0.0.1:1/ws", seconds(5)).error().code(),
            ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace hone
