/* hash_test.c - SipHash-1-3 against what others published of it, and against the paper, told slowly.
 * Here the paper's text is followed byte by byte, with the number of rounds left open: what it says for 2-4 is
 * compared with the paper's own example, so that what it says for 1-3 can be believed. */
#include "base/hash.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The paper ---- */

static uint64_t rotated(uint64_t x, unsigned by) { return (x << by) | (x >> (64 - by)); }

static void rounds(uint64_t v[4], int count) {
    while (count-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated(v[1], 13);
        v[3] = rotated(v[3], 16);
        v[1] ^= v[0];
        v[3] ^= v[2];
        v[0] = rotated(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotated(v[1], 17);
        v[3] = rotated(v[3], 21);
        v[1] ^= v[2];
        v[3] ^= v[0];
        v[2] = rotated(v[2], 32);
    }
}

/* Byte i of the message as it is padded: zeros, and last its length modulo 256. */
static uint64_t padded_byte(const unsigned char *bytes, size_t len, size_t i) {
    const size_t words = len / 8 + 1;

    if (i == words * 8 - 1) return len % 256;
    return i < len ? bytes[i] : 0;
}

static uint64_t siphash(int c, int d, dn_hash_key key, const unsigned char *bytes, size_t len) {
    static const char somepseudorandomlygeneratedbytes[] = "somepseudorandomlygeneratedbytes";
    uint64_t          v[4] = {0};

    for (size_t i = 0; i < 32; i++)
        v[i / 8] = v[i / 8] << 8 | (unsigned char)somepseudorandomlygeneratedbytes[i];
    v[0] ^= key.k0;
    v[1] ^= key.k1;
    v[2] ^= key.k0;
    v[3] ^= key.k1;
    for (size_t word = 0; word < len / 8 + 1; word++) {
        uint64_t m = 0;

        for (size_t i = 0; i < 8; i++) m |= padded_byte(bytes, len, word * 8 + i) << (8 * i);
        v[3] ^= m;
        rounds(v, c);
        v[0] ^= m;
    }
    v[2] ^= 0xff;
    rounds(v, d);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Bytes 0, 1, 2… under the key 0, 1, 2… 15. */
static const dn_hash_key   published_key = {UINT64_C(0x0706050403020100),
                                            UINT64_C(0x0f0e0d0c0b0a0908)};
static const unsigned char published_bytes[64] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

TEST(the_paper_followed_byte_by_byte_gives_its_own_example) {
    CHECK_UINT(siphash(2, 4, published_key, published_bytes, 15), UINT64_C(0xa129ca6149be45e5));
    CHECK_UINT(siphash(2, 4, published_key, published_bytes, 0), UINT64_C(0x726fdb47dd0e0e31));
    CHECK_UINT(siphash(2, 4, published_key, published_bytes, 1), UINT64_C(0x74f839c593dc67fd));
}

/* ---- What others say ---- */

/* From the tests of Rust's standard library and of the crate siphasher: of the first 0, 1, 2… 63 bytes. */
static const uint64_t of_rust[64] = {
    UINT64_C(0xabac0158050fc4dc), UINT64_C(0xc9f49bf37d57ca93), UINT64_C(0x82cb9b024dc7d44d),
    UINT64_C(0x8bf80ab8e7ddf7fb), UINT64_C(0xcf75576088d38328), UINT64_C(0xdef9d52f49533b67),
    UINT64_C(0xc50d2b50c59f22a7), UINT64_C(0xd3927d989bb11140), UINT64_C(0x369095118d299a8e),
    UINT64_C(0x25a48eb36c063de4), UINT64_C(0x79de85ee92ff097f), UINT64_C(0x70c118c1f94dc352),
    UINT64_C(0x78a384b157b4d9a2), UINT64_C(0x306f760c1229ffa7), UINT64_C(0x605aa111c0f95d34),
    UINT64_C(0xd320d86d2a519956), UINT64_C(0xcc4fdd1a7d908b66), UINT64_C(0x9cf2689063dbd80c),
    UINT64_C(0x8ffc389cb473e63e), UINT64_C(0xf21f9de58d297d1c), UINT64_C(0xc0dc2f46a6cce040),
    UINT64_C(0xb992abfe2b45f844), UINT64_C(0x7ffe7b9ba320872e), UINT64_C(0x525a0e7fdae6c123),
    UINT64_C(0xf464aeb267349c8c), UINT64_C(0x45cd5928705b0979), UINT64_C(0x3a3e35e3ca9913a5),
    UINT64_C(0xa91dc74e4ade3b35), UINT64_C(0xfb0bed02ef6cd00d), UINT64_C(0x88d93cb44ab1e1f4),
    UINT64_C(0x540f11d643c5e663), UINT64_C(0x2370dd1f8c21d1bc), UINT64_C(0x81157b6c16a7b60d),
    UINT64_C(0x4d54b9e57a8ff9bf), UINT64_C(0x759f12781f2a753e), UINT64_C(0xcea1a3bebf186b91),
    UINT64_C(0x2cf508d3ada26206), UINT64_C(0xb6101c2da3c33057), UINT64_C(0xb3f47496ae3a36a1),
    UINT64_C(0x626b57547b108392), UINT64_C(0xc1d2363299e41531), UINT64_C(0x667cc1923f1ad944),
    UINT64_C(0x65704ffec8138825), UINT64_C(0x24f280d1c28949a6), UINT64_C(0xc2ca1cedfaf8876b),
    UINT64_C(0xc2164bfc9f042196), UINT64_C(0xa16e9c9368b1d623), UINT64_C(0x49fb169c8b5114fd),
    UINT64_C(0x9f3143f8df074c46), UINT64_C(0xc6fdaf2412cc86b3), UINT64_C(0x7eaf49d10a52098f),
    UINT64_C(0x1cf313559d292f9a), UINT64_C(0xc44a30dda2f41f12), UINT64_C(0x36fae98943a71ed0),
    UINT64_C(0x318fb34c73f0bce6), UINT64_C(0xa27abf3670a7e980), UINT64_C(0xb4bcc0db243c6d75),
    UINT64_C(0x23f8d852fdb71513), UINT64_C(0x8f035f4da67d8a08), UINT64_C(0xd89cd0e5b7e8f148),
    UINT64_C(0xf6f4e6bcf7a644ee), UINT64_C(0xaec59ad80f1837f2), UINT64_C(0xc3b2f6154b6694e0),
    UINT64_C(0x9d199062b7bbb3a8),
};

TEST(the_first_64_lengths_hash_as_rust_publishes_them) {
    for (size_t len = 0; len < 64; len++)
        CHECK_UINT(dn_hash(published_key, published_bytes, len), of_rust[len]);
}

/* CPython 3.11 with PYTHONHASHSEED=0, hash(b"..."); and Rust's DefaultHasher::new(). */
TEST(under_the_key_zero_words_hash_as_python_and_rust_hash_them) {
    static const struct {
        const char *word;
        uint64_t    hash;
    } known[] = {
        {"", UINT64_C(0xd1fba762150c532c)}, /* Python has a rule of its own for this one */
        {"a", UINT64_C(0x407448d2b89b1813)},
        {"ab", UINT64_C(0x555508cbc6add439)},
        {"siphash", UINT64_C(0x8264ceeccb16bcbe)},
        {"0123456789abcdef", UINT64_C(0x1d42b30f7e060c24)},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK_UINT(dn_hash((dn_hash_key){0, 0}, known[i].word, strlen(known[i].word)),
                   known[i].hash);
}

/* ---- Whatever the bytes, the key and where they lie ---- */

TEST(any_bytes_under_any_key_hash_as_the_paper_says_wherever_they_lie) {
    uint64_t      random = test_seed();
    unsigned char room[8 + 600];

    for (int n = 0; n < 20000 / TEST_SLOW_FACTOR; n++) {
        const dn_hash_key key = {test_random(&random), test_random(&random)};
        const size_t      len = test_random(&random) % (n % 8 == 0 ? 600 : 40);
        const size_t      at = test_random(&random) % 8;

        for (size_t i = 0; i < sizeof room; i++) room[i] = (unsigned char)test_random(&random);
        CHECK_UINT(dn_hash(key, room + at, len), siphash(1, 3, key, room + at, len));
    }
}

/* Exactly as many bytes as it is given: the sanitizer stands behind the last one. */
TEST(not_a_byte_behind_the_last_one_is_read) {
    for (size_t len = 1; len <= 130; len++) {
        unsigned char *bytes = malloc(len);

        CHECK(bytes);
        memset(bytes, 0x5a, len);
        CHECK_UINT(dn_hash(published_key, bytes, len), siphash(1, 3, published_key, bytes, len));
        CHECK(dn_hash_quick(published_key, bytes, len) != 0);
        free(bytes);
    }
}

/* And so that it is good for a table of any size: a fair share of numbers fall on each of its places. */
TEST(
    quick_hashes_of_numbered_ids_fall_evenly_by_their_lower_and_by_their_upper_bits_under_any_key) {
    enum { IDS = 64000, PLACES = 64, KEYS = 8 };
    uint64_t random = test_seed();

    for (int k = 0; k < KEYS; k++) {
        const dn_hash_key key = {test_random(&random), test_random(&random)};
        unsigned          low[PLACES] = {0}, middle[PLACES] = {0};
        for (int i = 0; i < IDS; i++) {
            char           id[16];
            const int      len = snprintf(id, sizeof id, "u%d", i);
            const uint64_t hash = dn_hash_quick(key, id, (size_t)len);
            low[hash % PLACES]++;
            middle[(hash >> 24) % PLACES]++;
        }
        for (int i = 0; i < PLACES; i++) {
            CHECK(low[i] > IDS / PLACES * 8 / 10 && low[i] < IDS / PLACES * 12 / 10);
            CHECK(middle[i] > IDS / PLACES * 8 / 10 && middle[i] < IDS / PLACES * 12 / 10);
        }
    }
}

typedef uint64_t hash_of(dn_hash_key key, const void *bytes, size_t len);

static void every_bit_counts(hash_of *hash_of_bytes) {
    uint64_t      random = test_seed();
    unsigned char bytes[41] = {0};

    for (int n = 0; n < 50; n++) {
        const size_t      len = test_random(&random) % 40;
        const dn_hash_key key = {test_random(&random), test_random(&random)};

        for (size_t i = 0; i < len; i++) bytes[i] = (unsigned char)test_random(&random);
        bytes[len] = 0;
        const uint64_t hash = hash_of_bytes(key, bytes, len);
        for (int bit = 0; bit < 64; bit++) {
            const uint64_t other = UINT64_C(1) << bit;
            CHECK(hash_of_bytes((dn_hash_key){key.k0 ^ other, key.k1}, bytes, len) != hash);
            CHECK(hash_of_bytes((dn_hash_key){key.k0, key.k1 ^ other}, bytes, len) != hash);
        }
        for (size_t bit = 0; bit < len * 8; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
            CHECK(hash_of_bytes(key, bytes, len) != hash);
            bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
        }
        CHECK_MSG(hash_of_bytes(key, bytes, len + 1) != hash, "a zero behind it is no padding");
    }
}

TEST(every_bit_of_the_key_and_of_the_bytes_and_the_length_count) { every_bit_counts(dn_hash); }

TEST(of_a_quick_hash_too_every_bit_of_the_key_and_of_the_bytes_and_the_length_count) {
    every_bit_counts(dn_hash_quick);
}
