"""Which file system a file is on."""

from pathlib import Path

from windlass.storage.sqlite.mounts import filesystem_of, network_filesystem

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /srv rw - ext4 /dev/sdb1 rw
31 30 0:41 / /srv/shared\\040files rw,relatime shared:9 - nfs4 nas:/export rw
32 22 0:42 / /srv rw - xfs /dev/sdc1 rw
broken line
"""


def test_the_longest_mount_above_a_file_gives_its_kind(tmp_path: Path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS, "utf-8")

    assert filesystem_of("/home/app/windlass.db", mounts=mounts) == "ext4"
    assert filesystem_of("/srvother/windlass.db", mounts=mounts) == "ext4"
    assert filesystem_of("/srv/windlass.db", mounts=mounts) == "xfs"
    assert filesystem_of("/srv/shared files/windlass.db", mounts=mounts) == "nfs4"
    assert network_filesystem("/srv/shared files/windlass.db", mounts=mounts) == "nfs4"
    assert network_filesystem("/srv/windlass.db", mounts=mounts) is None


def test_without_a_list_of_mounts_there_is_no_warning(tmp_path: Path):
    assert network_filesystem("/srv/windlass.db", mounts=tmp_path / "nothing") is None
